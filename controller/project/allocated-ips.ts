import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Spiderpool's limit for one pool. A longer status, half a megabyte and more, would be sent to every node. */
export const MOST_ENTRIES = 5_000;

/** `status.allocatedIPs` as Spiderpool writes it: a JSON text with sorted keys. Undefined if it is empty. */
export function formatAllocatedIps(held: readonly IpRecord[]): string | undefined {
  if (held.length === 0) return undefined;
  const entries = held.map(({ spec: { address, holder } }): [string, object] => [
    address,
    { pod: `${holder.namespace}/${holder.name}`, podUid: holder.uid ?? '' },
  ]);
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))));
}
