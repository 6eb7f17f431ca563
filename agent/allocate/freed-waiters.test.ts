import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NodeIndex } from '#agent/node/node-index.ts';
import { PoolViews } from '#agent/views/pool-views.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { FixedCatalog } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { turnedTiming } from '#test/support/turned-timing.ts';
import { FreedWaiters } from './freed-waiters.ts';

const POOL = buildPool({ name: 'pool-a', ips: ['10.0.0.7-10.0.0.8'] });
const HERE = new AbortController().signal;

/** A pool of two addresses, both of another node, and its view from this one. */
async function openWaiters(most = 10) {
  const ledger = createMemoryLedger();
  for (const address of ['10.0.0.7', '10.0.0.8'])
    await ledger.create(specOf(address, { holder: { ...specOf(address).holder, node: 'worker-2' } }));
  const catalog = new FixedCatalog([POOL]);
  const index = new NodeIndex(() => 0);
  const views = new PoolViews(catalog, ledger, index, 'worker-1');
  const view = views.of(POOL);
  await view.reload();
  const timing = turnedTiming();
  const waiters = new FreedWaiters({ ledger, catalog, views, index, most, timing });
  const join = () => waiters.join() ?? expect.fail('too many wait');
  const release = async (address: string) => {
    const record = await ledger.get(address);
    if (record !== null) await ledger.release(record);
  };
  return { waiters, join, view, catalog, timing, release };
}

test('a stop wakes everybody who waits, and nobody waits after it', async () => {
  const { waiters, join } = await openWaiters();
  const [waiting, busy] = [join(), join()];
  const wake = waiting.wait(['pool-a'], 60_000, HERE);
  waiters.stop();
  expect(await wake).toBe('stopping');
  expect(await busy.wait(['pool-a'], 60_000, HERE)).toBe('stopping');
  expect(waiters.join()).toBeNull();
});

test('a stop while calls are woken one after the other is not missed by a busy one', async () => {
  const { waiters, join, catalog } = await openWaiters();
  const [first, busy] = [join(), join()];
  const wake = first.wait(['pool-a'], 60_000, HERE);
  catalog.change([POOL]);
  waiters.stop();
  expect(await wake).toBe('look');
  await turn();
  await turn();
  expect(await busy.wait(['pool-a'], 60_000, HERE)).toBe('stopping');
});

test('a stop is not missed by a busy call for which something else changes then', async () => {
  const { waiters, join } = await openWaiters();
  const busy = join();
  const wake = busy.wait(['pool-a'], 60_000, HERE);
  busy.wake('look');
  expect(await wake).toBe('look');
  waiters.stop();
  busy.wake('look');
  expect(await busy.wait(['pool-a'], 60_000, HERE)).toBe('stopping');
});

test('more than the limit do not wait, until one leaves', async () => {
  const { waiters, join } = await openWaiters(1);
  const place = join();
  expect(waiters.join()).toBeNull();
  place[Symbol.dispose]();
  expect(waiters.join()).not.toBeNull();
});

test('time is over', async () => {
  const { join, timing } = await openWaiters();
  const wake = join().wait(['pool-a'], 1_000, HERE);
  timing.pass(1_000);
  expect(await wake).toBe('timeout');
});

test('a caller that had gone away before does not wait', { timeout: 10_000 }, async () => {
  const { join } = await openWaiters();
  expect(await join().wait(['pool-a'], 60_000, AbortSignal.abort())).toBe('look');
});

test('what changed while a call was busy is not missed', async () => {
  const { join, catalog } = await openWaiters();
  const place = join();
  catalog.change([POOL]);
  expect(await place.wait(['pool-a'], 60_000, HERE)).toBe('look');
});

test('a change of the pools wakes one call in each turn of the event loop, and a further change all of them again', async () => {
  const { join, catalog } = await openWaiters();
  const woken: number[] = [];
  const wait = async (at: number, place: ReturnType<typeof join>) => {
    for (;;) {
      if ((await place.wait(['pool-a'], 60_000, HERE)) !== 'look') return;
      woken.push(at);
      // The pools change while the first round is under way.
      if (woken.length === 2) catalog.change([POOL]);
    }
  };
  for (const at of [1, 2, 3]) void wait(at, join());
  catalog.change([POOL]);
  for (let step = 0; step < 20; step += 1) await null;
  expect(woken).toEqual([1]);
  const byTurn: number[] = [];
  for (let turns = 0; woken.length < 6 && turns < 100; turns += 1) {
    const before = woken.length;
    await turn();
    byTurn.push(woken.length - before);
  }
  expect(woken).toEqual([1, 2, 3, 1, 2, 3]);
  expect(Math.max(...byTurn)).toBe(1);
});

test('an address that a call leaves without is offered to the next', async () => {
  const { join, timing, view, release } = await openWaiters();
  const [first, second] = [join(), join()];
  const [firstWake, secondWake] = [first.wait(['pool-a'], 60_000, HERE), second.wait(['pool-a'], 60_000, HERE)];
  await release('10.0.0.7');
  timing.pass(25);
  expect(await firstWake).toBe('offer');
  first[Symbol.dispose]();
  expect(await secondWake).toBe('offer');
  expect(second.claim(view)).toBe((10n << 24n) + 7n);
  expect(second.claim(view)).toBeNull();
});

test('a call whose time is over gets what came back, though others may be given time to be faster', async () => {
  const { join, timing, view, release } = await openWaiters();
  const place = join();
  const wake = place.wait(['pool-a'], 10, HERE);
  await release('10.0.0.7');
  timing.pass(10);
  expect(await wake).toBe('offer');
  expect(place.claim(view)).not.toBeNull();
});

test('what came back while the last call left is in the view', async () => {
  const { join, view, release } = await openWaiters();
  const place = join();
  void place.wait(['pool-a'], 60_000, HERE);
  await release('10.0.0.8');
  expect(view.freeCount).toBe(0n);
  place[Symbol.dispose]();
  expect(view.freeCount).toBe(1n);
});

test.each([
  { ahead: 1, name: 'two addresses', free: 2, may: true },
  { ahead: 1, name: 'one address', free: 1, may: false },
  { ahead: 0, name: 'nothing', free: 0, may: true },
])('with $ahead call in line and $name free, a new call may take: $may', async ({ ahead, free, may }) => {
  const { waiters, join, view, timing, release } = await openWaiters();
  const places = Array.from({ length: ahead }, join);
  for (const place of places) void place.wait(['pool-a'], 60_000, HERE);
  for (const place of places) place.wake('look'); // it is busy, so nothing is offered to it
  for (const address of ['10.0.0.7', '10.0.0.8'].slice(0, free)) await release(address);
  timing.pass(25);
  expect(view.freeCount).toBe(BigInt(free));
  expect(waiters.mayTake(view, null)).toBe(may);
});
