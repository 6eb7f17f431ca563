import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { summarizePool, usableAddresses } from './pool-summary.ts';

const set = (...ranges: string[]) => IntervalSet.of(ranges.map(parseRange));
const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'] });

test.each([
  { name: 'nothing taken', reserved: set(), taken: set(), counts: { used: '0', free: '10', reserved: '0' } },
  {
    name: 'two taken',
    reserved: set(),
    taken: set('10.0.0.10-10.0.0.11'),
    counts: { used: '2', free: '8', reserved: '0' },
  },
  {
    name: 'a reserved address that is taken is reserved, not used',
    reserved: set('10.0.0.10', '10.0.1.0-10.0.1.255'),
    taken: set('10.0.0.10-10.0.0.11'),
    counts: { used: '1', free: '8', reserved: '1' },
  },
  {
    name: 'a record outside of the ranges is not counted',
    reserved: set(),
    taken: set('10.0.0.50'),
    counts: { used: '0', free: '10', reserved: '0' },
  },
])('$name', ({ reserved, taken, counts }) => {
  const usable = usableAddresses(POOL, reserved);
  expect(summarizePool(POOL, usable, usable.subtract(taken).size)).toMatchObject({
    name: 'v4',
    total: '10',
    ...counts,
  });
});
