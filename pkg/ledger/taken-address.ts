import { parseAddress } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { TakenAddress } from './ledger.ts';

export function toTaken({ spec }: Pick<IpRecord, 'spec'>): TakenAddress {
  return { ...parseAddress(spec.address), domain: spec.domain, state: spec.state, node: spec.holder.node };
}
