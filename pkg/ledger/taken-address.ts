import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { TakenAddress } from './ledger.ts';

export function toTaken({ spec }: Pick<IpRecord, 'spec'>): TakenAddress {
  return { ...parseAddress(spec.address), domain: spec.domain, state: spec.state, node: spec.holder.node };
}
