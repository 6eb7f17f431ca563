import { expect, test } from 'vitest';
import { formatRange } from '#pkg/ip/range.ts';
import { readPoolRanges } from './pool-ranges.ts';

const pool = (spec: object, annotations: object = {}) => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: { name: 'a', uid: 'u', annotations },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.9'], ...spec },
});

test.each<{ name: string; value: unknown; ranges: string[] | null; domain?: string }>([
  { name: 'a good pool', value: pool({}), ranges: ['10.0.0.1-10.0.0.9'] },
  {
    name: 'a bad annotation',
    value: pool({}, { 'ipledger.io/reuse-cooldown': '5min' }),
    ranges: ['10.0.0.1-10.0.0.9'],
  },
  { name: 'an unknown field', value: pool({ gatway: 'x' }), ranges: ['10.0.0.1-10.0.0.9'] },
  {
    name: 'one bad range of several',
    value: pool({ ips: ['10.0.0.9-10.0.0.1', 7, '10.0.0.20', 'fd00::1', '10.0.0.250-10.0.1.4'], excludeIPs: ['x'] }),
    ranges: ['10.0.0.20', '10.0.0.250-10.0.0.255'],
  },
  {
    name: 'a domain that is none',
    value: pool({}, { 'ipledger.io/domain': 'Not_One' }),
    ranges: ['10.0.0.1-10.0.0.9'],
    domain: 'Not_One',
  },
  { name: 'no network', value: pool({ subnet: 'x' }), ranges: null },
  { name: 'no pool', value: 7, ranges: null },
])('of $name the ranges are $ranges', ({ value, ranges, domain = 'default' }) => {
  const read = readPoolRanges(value);
  expect(read?.addresses.intervals().map((interval) => formatRange(4, interval)) ?? null).toEqual(ranges);
  if (read !== null) expect(read).toMatchObject({ name: 'a', uid: 'u', family: 4, domain });
});
