import type { Family } from '#pkg/ip/address.ts';
import type { Holder } from './ip-record.ts';

/** The stable key: who holds an address, over all restarts and containers. None of the parts can contain a slash. */
export function holderKey(holder: Pick<Holder, 'kind' | 'namespace' | 'name' | 'interface'>, family: Family): string {
  return [holder.kind, holder.namespace, holder.name, holder.interface, family].join('/');
}
