import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { PoolView } from './pool-view.ts';

const FIRST = 10n << 24n;

function takenBy(node: string, ...offsets: number[]): TakenAddress[] {
  return offsets.map((offset) => ({
    value: FIRST + BigInt(offset),
    domain: 'default',
    family: 4,
    state: 'Allocated',
    node,
  }));
}

/** worker-1's view of 10.0.0.0 … 10.0.0.99, and how often it was loaded. */
function buildView(load: () => readonly TakenAddress[]) {
  const pool = buildPool({ subnet: '10.0.0.0/24', ips: ['10.0.0.0-10.0.0.99'] });
  const loads = { count: 0 };
  const view = new PoolView(pool, {
    reserved: IntervalSet.EMPTY,
    node: 'worker-1',
    load: async () => {
      loads.count += 1;
      return load();
    },
  });
  const take = (count: number) => {
    const offsets: number[] = [];
    for (let left = count; left > 0; left -= 1) {
      const value = view.pick();
      if (value === null) break;
      view.settle(value);
      offsets.push(Number(value - FIRST));
    }
    return offsets;
  };
  return { view, loads, take };
}

test('a node that is alone takes one address after the other', async () => {
  const { view, take } = buildView(() => []);
  await view.reload();
  const [first = 0, ...others] = take(20);
  expect(others).toEqual(Array.from({ length: 19 }, (_, at) => (first + at + 1) % 100));
});

test('an address put back is taken again only after all others', async () => {
  const { view } = buildView(() => []);
  await view.reload();
  const picked = Array.from({ length: 101 }, () => {
    const value = view.pick() ?? -1n;
    view.putBack(value);
    return value;
  });
  expect(new Set(picked).size).toBe(100);
  expect(picked[100]).toBe(picked[0]);
});

test('beside another node it takes every second address, then the others too, each once', async () => {
  const { view, take } = buildView(() => takenBy('worker-2', 0));
  await view.reload();
  const offsets = take(200);
  const own = Array.from({ length: 49 }, (_, at) => 2 * at + 2);
  const start = own.indexOf(offsets[0] ?? 0);
  expect(offsets.slice(0, 49)).toEqual([...own.slice(start), ...own.slice(0, start)]);
  expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 99 }, (_, at) => at + 1));
});

test('what comes back is not taken again before the share was gone through', async () => {
  const { view } = buildView(() => takenBy('worker-2', 0));
  await view.reload();
  const values = Array.from({ length: 49 }, () => {
    const value = view.pick() ?? 0n;
    view.putBack(value);
    return value;
  });
  expect(new Set(values).size).toBe(49);
});

test('of its share gone through, what came back is taken again, but for the last three that came back', async () => {
  const { view, take } = buildView(() => takenBy('worker-2', 0));
  await view.reload();
  const own = take(49);
  const back = own.slice(10, 14);
  const giveBack = (offset: number) => view.markFree(FIRST + BigInt(offset));
  back.slice(0, 3).forEach(giveBack);
  expect(take(1).every((offset) => offset % 2 === 1)).toBe(true);
  back.slice(3).forEach(giveBack);
  expect(take(1)).toEqual(back.toSorted((a, b) => a - b).slice(0, 1));
  expect(take(1).every((offset) => offset % 2 === 1)).toBe(true);
});

test('a node that began alone looks once more after 32 addresses, and keeps to its share from then on', async () => {
  let taken: readonly TakenAddress[] = [];
  const { view, loads, take } = buildView(() => taken);
  await view.reload();
  const before = take(31);
  taken = [...takenBy('worker-1', ...before), ...takenBy('worker-0', 3)].filter(
    ({ value }, at, all) => all.findIndex((other) => other.value === value) === at,
  );
  expect(loads.count).toBe(1);
  take(1);
  await view.untilLoaded();
  expect(loads.count).toBe(2);
  expect(take(20).every((offset) => offset % 2 === 1)).toBe(true);
  expect(loads.count).toBe(2);
});

test('a node that stays alone looks once more, not again and again', async () => {
  const { view, loads, take } = buildView(() => []);
  await view.reload();
  take(90);
  await view.untilLoaded();
  take(10);
  expect(loads.count).toBe(2);
});

test('a node that sees others at once needs no second look', async () => {
  const { view, loads, take } = buildView(() => takenBy('worker-2', 0));
  await view.reload();
  expect(take(90)).toHaveLength(90);
  expect(loads.count).toBe(1);
});

test('a second look that fails keeps nobody from an address', async () => {
  let isAway = false;
  const { view, loads, take } = buildView(() => {
    if (isAway) throw new Error('the API server is away');
    return [];
  });
  await view.reload();
  isAway = true;
  take(40);
  await view.untilLoaded();
  expect(loads.count).toBe(2);
  expect(take(10)).toHaveLength(10);
});
