import { refuse, refuseUnknownFields } from '#pkg/decode/untrusted.ts';
import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { decodeIpVersion, decodeRanges } from './decode-network.ts';
import { decodeObject } from './decode-object.ts';

/** Addresses that no pool gives out, whatever `spec.ips` of the pool says. */
export interface ReservedIp {
  readonly name: string;
  readonly family: Family;
  readonly addresses: IntervalSet;
  readonly isTerminating: boolean;
}

export function decodeReservedIp(value: unknown): ReservedIp {
  const { metadata, spec } = decodeObject(value, 'SpiderReservedIP');
  refuseUnknownFields(spec, 'spec', ['ipVersion', 'ips']);
  const version = decodeIpVersion(spec['ipVersion'], 'spec.ipVersion');
  const ranges = decodeRanges(spec['ips'], 'spec.ips');
  const family =
    version ?? ranges[0]?.family ?? refuse('spec.ips', 'must not be empty while spec.ipVersion is not set');
  for (const [index, range] of ranges.entries()) {
    if (range.family !== family)
      refuse(`spec.ips[${index}]`, `${formatRange(range.family, range)} is not IPv${family}`);
  }
  return { name: metadata.name, family, addresses: IntervalSet.of(ranges), isTerminating: metadata.isTerminating };
}
