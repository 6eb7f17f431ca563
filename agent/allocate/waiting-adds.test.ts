import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { PAUSE_MS, startContendedPool } from '#test/support/contended-pool.ts';
import { newCall } from '#test/support/memory-agent.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const names = (count: number) => Array.from({ length: count }, (_, at) => `pod-${at}`);

/** Calls that wait, in this order; what the waiting cost up to here is forgotten. */
async function startWaiting(size: number, count: number, more: Parameters<typeof startContendedPool>[1] = {}) {
  const world = await startContendedPool(size, more);
  const served: string[] = [];
  for (const name of names(count)) {
    void world.add(name).then(
      () => served.push(name),
      () => {},
    );
    await world.settled();
  }
  const readsBefore = world.count.reads;
  Object.assign(world.count, { creates: 0, reads: 0 });
  /** Delivers the events of all writes until now, and lets the pauses end. */
  const afterPause = async () => {
    world.tellAll();
    world.timing.pass(PAUSE_MS);
    await world.settled();
  };
  return { ...world, served, readsBefore, afterPause };
}

test('a crowd that comes to a full pool reads it once', async () => {
  await using world = await startWaiting(3, 20);
  expect(world.readsBefore).toBe(2); // the first load, and the one before the first call waits
});

test('the oldest call gets what comes back, with one create and no read', async () => {
  await using world = await startWaiting(3, 5);
  for (const [at, address] of world.addresses.entries()) {
    await world.others.release(address);
    await world.afterPause();
    expect(world.served).toEqual(names(at + 1));
  }
  expect(world.count).toEqual({ creates: 3, reads: 0 });
});

test('ten addresses that come back at once serve ten calls', async () => {
  await using world = await startWaiting(12, 11);
  for (const address of world.addresses.slice(0, 10)) await world.others.release(address);
  await world.afterPause();
  expect(world.served.toSorted()).toEqual(names(10).toSorted());
  expect(world.count).toEqual({ creates: 10, reads: 0 });
});

test('what another node takes during the pause is not tried', async () => {
  await using world = await startWaiting(3, 3);
  await world.others.release('10.0.0.10');
  world.tellAll();
  await world.others.take('10.0.0.10');
  await world.afterPause();
  expect(world.count).toEqual({ creates: 0, reads: 0 });
});

test('a lost create goes on waiting without a read, in its place', async () => {
  await using world = await startWaiting(3, 2);
  await world.others.release('10.0.0.10');
  world.tellAll();
  await world.others.take('10.0.0.10'); // the agent is not told in time
  world.timing.pass(PAUSE_MS);
  await world.settled();
  expect(world.count).toEqual({ creates: 1, reads: 0 });
  await world.others.release('10.0.0.11');
  await world.afterPause();
  expect(world.served).toEqual(['pod-0']);
  expect(world.count).toEqual({ creates: 2, reads: 0 });
});

test('an address that came back while its create was being lost is tried again', async () => {
  await using world = await startWaiting(2, 1);
  await world.others.release('10.0.0.10');
  world.creates.isHolding = true;
  await world.afterPause();
  await world.others.take('10.0.0.10');
  world.creates.isHolding = false;
  world.tellAll();
  world.creates.release();
  // The watch tells of the next release before the create is answered.
  await world.others.release('10.0.0.10');
  await world.afterPause();
  expect(world.served).toEqual(['pod-0']);
});

test('a new call stays behind those that wait', async () => {
  await using world = await startWaiting(3, 1);
  await world.others.release('10.0.0.10');
  world.tellAll();
  void world.add('late').catch(() => {});
  await world.settled();
  expect(world.count.creates).toBe(0);
  await world.afterPause();
  expect(world.served).toEqual(['pod-0']);
  expect(world.count).toEqual({ creates: 1, reads: 0 });
});

test('a call of the same node is served at once by its own DEL, and the echo of that DEL is not tried', async () => {
  await using world = await startWaiting(2, 1);
  await world.others.release('10.0.0.10');
  await world.afterPause();
  void world.add('next').catch(() => {});
  void world.add('after').catch(() => {});
  await world.settled();
  world.tellAll();
  Object.assign(world.count, { creates: 0, reads: 0 });
  const pod = world.made.pods.known('uid-of-pod-0');
  if (!pod) throw new Error('there is no pod');
  world.made.pods.end(pod);
  await world.made.del(pod, 'pod-0');
  await world.settled();
  expect(await world.holderOf('10.0.0.10')).toBe('next');
  world.watch.tellNext(); // of the DEL, and not yet of the create that followed
  world.timing.pass(PAUSE_MS);
  await world.settled();
  expect(world.count).toEqual({ creates: 1, reads: 0 });
});

test('calls are woken when their pool grows, and what is known of it is not read again', async () => {
  await using world = await startWaiting(2, 3);
  world.made.catalog.change([buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.13'], isDefault: true })]);
  await world.settled();
  expect(world.served).toEqual(['pod-0', 'pod-1']);
  expect(world.count).toEqual({ creates: 2, reads: 0 });
});

test('calls are woken when a reservation ends', async () => {
  await using world = await startContendedPool(2);
  const pools = [buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true })];
  const addresses = IntervalSet.of([parseRange('10.0.0.12')]);
  world.made.catalog.change(pools, [{ name: 'gateways', family: 4, addresses, isTerminating: false }]);
  const waiting = world.add('pod-0');
  await world.settled();
  Object.assign(world.count, { creates: 0, reads: 0 });
  world.made.catalog.change(pools);
  expect(await waiting).toEqual(['10.0.0.12']);
  expect(world.count).toEqual({ creates: 1, reads: 0 });
});

test.each([
  { name: 'reserved', isReserved: true },
  { name: 'not in the pool', isReserved: false },
])('an address that comes back while it is $name is given when it counts again', async ({ isReserved }) => {
  await using world = await startWaiting(3, 1);
  const { catalog } = world.made;
  const addresses = IntervalSet.of([parseRange('10.0.0.10')]);
  const before = catalog.current().list;
  if (isReserved) catalog.change(before, [{ name: 'kept', family: 4, addresses, isTerminating: false }]);
  else catalog.change([buildPool({ name: 'v4', ips: ['10.0.0.11-10.0.0.12'], isDefault: true })]);
  await world.settled();
  await world.others.release('10.0.0.10');
  await world.afterPause();
  expect(world.served).toEqual([]);
  catalog.change(before);
  await world.settled();
  expect(world.served).toEqual(['pod-0']);
  expect(world.count).toEqual({ creates: 1, reads: 0 });
});

test('an address that became Suspect while it was reserved is probed when the reservation ends', async () => {
  await using world = await startWaiting(3, 1, { prober: new ScriptedProber() });
  const { catalog } = world.made;
  const addresses = IntervalSet.of([parseRange('10.0.0.10')]);
  const before = catalog.current().list;
  catalog.change(before, [{ name: 'kept', family: 4, addresses, isTerminating: false }]);
  await world.settled();
  await world.others.makeSuspect('10.0.0.10');
  world.tellAll();
  await world.settled();
  expect(world.served).toEqual([]);
  catalog.change(before);
  await world.settled();
  expect(world.served).toEqual(['pod-0']);
});

test('the refusal of a call that waited counts the states as they are then', async () => {
  await using world = await startContendedPool(3);
  await world.others.keep('10.0.0.10');
  const adding = world.add('pod-0');
  const refused = expect(adding).rejects.toMatchObject({
    message: expect.stringMatching(/v4 3\/3 used \(2 kept for absent pods\)/),
  });
  await world.settled();
  await world.others.release('10.0.0.10');
  await world.others.take('10.0.0.10');
  await world.others.keep('10.0.0.11');
  await world.others.keep('10.0.0.12');
  world.tellAll();
  world.timing.pass(20_000);
  await refused;
});

test('what a read finds while a reservation changes is not lost', async () => {
  await using world = await startWaiting(3, 1);
  const { catalog } = world.made;
  const addresses = IntervalSet.of([parseRange('10.0.0.12')]);
  await world.others.release('10.0.0.10');
  world.watch.break();
  world.reads.isHolding = true;
  world.timing.pass(1_000);
  await world.settled();
  catalog.change(catalog.current().list, [{ name: 'kept', family: 4, addresses, isTerminating: false }]);
  world.reads.isHolding = false;
  while (world.reads.count > 0) world.reads.release();
  await world.settled();
  expect(world.served).toEqual(['pod-0']);
});

test('calls are woken by a pool that appears', async () => {
  await using world = await startWaiting(2, 1);
  const [pool, other] = [['10.0.0.10-10.0.0.11'], ['10.0.0.20']].map((ips, at) =>
    buildPool({ name: at === 0 ? 'v4' : 'more', ips, isDefault: true }),
  );
  if (pool === undefined || other === undefined) throw new Error('there are two pools');
  world.made.catalog.change([pool, other]);
  await world.settled();
  expect(await world.holderOf('10.0.0.20')).toBe('pod-0');
});

test('one call is served by an address that became Suspect, the others wait on', async () => {
  await using world = await startWaiting(2, 3, { prober: new ScriptedProber() });
  await world.others.makeSuspect('10.0.0.11');
  world.tellAll();
  await world.settled();
  expect(world.served).toEqual(['pod-0']);
  expect(world.count).toEqual({ creates: 0, reads: 0 });
});

test('a broken watch costs one read, after a pause', async () => {
  await using world = await startWaiting(3, 5);
  await world.others.release('10.0.0.10');
  await world.others.release('10.0.0.11');
  world.watch.break();
  world.watch.break();
  await world.settled();
  expect(world.count.reads).toBe(0);
  world.timing.pass(1_000);
  await world.settled();
  expect(world.served).toEqual(['pod-0', 'pod-1']);
  expect(world.count).toEqual({ creates: 2, reads: 1 });
});

test('a caller that goes away leaves its address to the next call', async () => {
  await using world = await startContendedPool(2);
  const gone = new AbortController();
  const first = world.add('pod-0', newCall(30_000, gone.signal));
  await world.settled();
  const second = world.add('pod-1');
  await world.settled();
  await world.others.release('10.0.0.10');
  world.tellAll();
  world.timing.pass(PAUSE_MS); // it is picked for the first call, which has not run yet
  gone.abort();
  await expect(first).rejects.toMatchObject({ reason: 'caller-gone' });
  expect(await second).toEqual(['10.0.0.10']);
});

test('a call that has no time left for the create leaves its address to the next', async () => {
  await using world = await startContendedPool(2);
  const first = world.add('pod-0', newCall(400));
  await world.settled();
  const second = world.add('pod-1');
  await world.settled();
  await world.others.release('10.0.0.10');
  world.tellAll();
  await new Promise((resolve) => setTimeout(resolve, 450));
  world.timing.pass(PAUSE_MS);
  await expect(first).rejects.toMatchObject({ reason: 'out-of-time' });
  expect(await second).toEqual(['10.0.0.10']);
});
