import type { Family } from '#pkg/ip/address.ts';
import type { IpRecord } from './ip-record.ts';

/** Canonical text tells: only IPv6 has colons. */
export function recordFamily({ spec }: Pick<IpRecord, 'spec'>): Family {
  return spec.address.includes(':') ? 6 : 4;
}
