import { expect, test } from 'vitest';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import { findLaterOverlaps } from './later-overlaps.ts';

const dated = (name: string, second: number, overrides: PoolOverrides = {}) => ({
  pool: buildPool({ name, ...overrides }),
  createdAt: `2026-11-16T10:00:0${second}Z`,
});

const laterOf = (...pools: ReturnType<typeof dated>[]) => [...findLaterOverlaps(pools).keys()].sort();

test('the later of two has to leave its addresses', () => {
  const overlaps = findLaterOverlaps([
    dated('young', 2, { ips: ['10.0.0.5-10.0.0.9'] }),
    dated('old', 1, { ips: ['10.0.0.1-10.0.0.5'] }),
  ]);
  expect([...overlaps]).toEqual([['young', 'pool young and pool old both hold 10.0.0.5']]);
});

test('of the same second the first by name stays', () => {
  expect(laterOf(dated('c', 1), dated('a', 1), dated('b', 1))).toEqual(['b', 'c']);
});

test('who meets only a pool that has to leave stays', () => {
  const chain = [
    dated('a', 1, { ips: ['10.0.0.1-10.0.0.3'] }),
    dated('b', 2, { ips: ['10.0.0.3-10.0.0.5'] }),
    dated('c', 3, { ips: ['10.0.0.5-10.0.0.7'] }),
  ];
  expect(laterOf(...chain)).toEqual(['b']);
});

test('subnets that cross count even without common addresses', () => {
  const wide = dated('wide', 1, { subnet: '10.0.0.0/16', ips: ['10.0.9.9'] });
  expect(laterOf(dated('narrow', 2), wide)).toEqual(['narrow']);
});

test('other domains and families never meet', () => {
  expect(laterOf(dated('a', 1), dated('b', 2, { domain: 'blue' }), dated('c', 3, { subnet: 'fd00::/64' }))).toEqual([]);
});

test('an interval inside a far-reaching one is found behind others', () => {
  const pools = [
    dated('long', 1, { ips: ['10.0.0.1-10.0.0.100'] }),
    dated('short', 2, { subnet: '10.0.0.0/24', ips: ['10.0.0.10'] }),
    dated('late', 3, { ips: ['10.0.0.90-10.0.0.95'] }),
    dated('free', 4, { ips: ['10.0.0.101-10.0.0.120'] }),
  ];
  expect(laterOf(...pools)).toEqual(['late', 'short']);
});
