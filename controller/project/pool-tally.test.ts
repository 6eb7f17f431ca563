import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import type { PoolFacts } from './pool-conditions.ts';
import { PoolTally } from './pool-tally.ts';

const FACTS: PoolFacts = {
  name: 'a',
  generation: 1,
  pool: buildPool({ name: 'a', ips: ['10.0.0.1-10.1.255.255'] }),
  problem: null,
  overlap: null,
  subnetOverlap: null,
  reserved: IntervalSet.of([parseRange('10.0.0.1-10.0.0.9')]),
};
const records = (count: number) =>
  Array.from({ length: count }, (_, at) => buildRecord({ address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }));

test('an address counts as taken if it can be given out, and has a record of this domain and family', () => {
  const [size, reserved] = [2 * 65_536 - 1, 9];
  const tally = PoolTally.of(FACTS, [
    buildRecord({ address: '10.0.0.10' }),
    buildRecord({ address: '10.0.0.11', state: 'Cooling' }),
    buildRecord({ address: '10.0.0.5' }),
    buildRecord({ address: '10.0.0.10', domain: 'blue', name: '10.0.0.10.blue' }),
    buildRecord({ address: '10.9.0.1', state: 'Retained' }),
    buildRecord({ address: 'fd00::a' }),
  ]);
  expect(tally.available).toBe(BigInt(size - reserved - 2));
  expect(Object.fromEntries(tally.takenByState)).toEqual({ Allocated: 1, Cooling: 1 });
  expect(Object.fromEntries(tally.byState)).toEqual({ Allocated: 4, Cooling: 1, Retained: 1 });
  expect(tally.heldCount).toBe(5);
  expect(tally.outside.map(({ name }) => name)).toEqual(['10.0.0.10.blue', '10.9.0.1', 'fd00::a']);
});

test('beyond 5,000 held records they are counted, and not kept', () => {
  expect(PoolTally.of(FACTS, records(5_000)).held).toHaveLength(5_000);
  const more = PoolTally.of(FACTS, records(5_001));
  expect([more.held, more.heldCount]).toEqual([null, 5_001]);
});

test('a large pool is counted in slices, and adds up to the same', async () => {
  const all = records(100_000);
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await turn();
  })();
  const tally = await PoolTally.inSlices(FACTS, all);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThanOrEqual(3);
  expect(tally.available).toBe(PoolTally.of(FACTS, all).available);
});
