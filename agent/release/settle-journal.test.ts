import { describe, expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { turnedClock } from '#test/support/turned-clock.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };

/** A ledger that is away, or whose creates get lost on their way, while a test says so. */
function flaky() {
  const below = createMemoryLedger();
  const lost: RecordSpec[] = [];
  const is = { away: false, losing: false };
  const guard = async <T>(work: () => Promise<T>): Promise<T> => {
    if (is.away) throw new IpamError('api-server-unavailable', 'the API server is away');
    return await work();
  };
  const ledger: Ledger = ledgerWith(below, {
    create: (spec) =>
      guard(async () => {
        if (!is.losing) return await below.create(spec);
        lost.push(spec);
        throw abandonedWrite('create', spec.address, 'no answer');
      }),
    amend: (seen, next) => guard(() => below.amend(seen, next)),
    release: (seen) => guard(() => below.release(seen)),
    get: (name) => guard(() => below.get(name)),
  });
  const land = async () => {
    for (const spec of lost.splice(0)) await below.create(spec);
  };
  return { ledger, below, is, land };
}

test.each([
  { name: 'an ordinary pod', controller: null, left: [] },
  { name: 'a sticky pod', controller: SET, left: ['Retained'] },
])(
  'a DEL of $name while the ledger is away succeeds, is owed, and is done by the next round',
  async ({ controller, left }) => {
    const { ledger, is } = flaky();
    await using made = await startMemoryClusterAgent([POOL], { ledger });
    const pod = made.pods.put('db-0', { controller });
    await made.add(pod, 'c1');
    made.pods.end(pod);
    is.away = true;
    await made.del(pod, 'c1');
    await made.settleJournal();
    expect(made.journal.size).toBe(1);
    is.away = false;
    await made.settleJournal();
    expect((await made.records()).map(({ spec }) => spec.state)).toEqual(left);
    expect(made.journal.size).toBe(0);
  },
);

test('an owed release that a new ADD of the sandbox came before does not hit it', async () => {
  const { ledger, is } = flaky();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  const first = await made.add(pod, 'c1');
  made.pods.end(pod);
  is.away = true;
  await made.del(pod, 'c1');
  is.away = false;
  made.pods.put('web');
  expect(await made.add(pod, 'c1')).toEqual(first);
  expect(made.journal.size).toBe(0);
  await made.settleJournal();
  expect(await made.records()).toMatchObject([{ spec: { holder: { attachGeneration: 2 } } }]);
});

test('an owed release does not hit the next sandbox of the pod', async () => {
  const { ledger, is } = flaky();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pod = made.pods.put('web');
  const first = await made.add(pod, 'c1');
  made.pods.end(pod);
  is.away = true;
  await made.del(pod, 'c1');
  is.away = false;
  made.pods.put('web');
  expect(await made.add(pod, 'c2')).toEqual(first);
  await made.settleJournal();
  expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c2' } } }]);
  expect(made.journal.size).toBe(0);
});

test('an abandoned create that lands after another address was answered is given back, as often as it lands', async () => {
  const { ledger, below, is, land } = flaky();
  let now = new Date('2026-11-16T10:00:00Z');
  await using made = await startMemoryClusterAgent([POOL], { ledger, now: () => now });
  const pod = made.pods.put('web');
  is.losing = true;
  await expect(made.add(pod, 'c1')).rejects.toThrow('may still happen');
  is.losing = false;
  const [answered] = await made.add(pod, 'c1');
  await land();
  expect(await below.list({ limit: 9 })).toHaveLength(2);
  await made.settleJournal();
  expect((await made.records()).map(({ spec }) => spec.address)).toEqual([answered]);
  expect(made.journal.size).toBe(1); // another try of it may be on its way
  now = new Date('2026-11-16T10:11:00Z');
  await made.settleJournal();
  expect(made.journal.size).toBe(0);
  expect(await made.records()).toHaveLength(1);
});

test('an abandoned create that landed is what the same sandbox is answered with when it asks again', async () => {
  const { ledger, is, land } = flaky();
  await using made = await startMemoryClusterAgent([buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true })], {
    ledger,
  });
  const pod = made.pods.put('web');
  is.losing = true;
  await expect(made.add(pod, 'c1')).rejects.toThrow('may still happen');
  is.losing = false;
  await land();
  expect(await made.add(pod, 'c1')).toEqual(['10.0.0.10']);
  await made.settleJournal();
  expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c1', attachGeneration: 2 } } }]);
});

test('an abandoned create that lands for a sandbox that is gone frees a full pool for the next one', async () => {
  const { ledger, is, land } = flaky();
  await using made = await startMemoryClusterAgent([buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true })], {
    ledger,
  });
  const pod = made.pods.put('web');
  is.losing = true;
  await expect(made.add(pod, 'c1')).rejects.toThrow('may still happen');
  is.losing = false;
  await land();
  await made.settleJournal();
  expect(await made.add(pod, 'c2')).toEqual(['10.0.0.10']);
  await made.settleJournal();
  expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c2' } } }]);
});

test('a name that somebody else has by now is left alone', async () => {
  const { ledger, below, is, land } = flaky();
  await using made = await startMemoryClusterAgent([buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true })], {
    ledger,
  });
  is.losing = true;
  await expect(made.add(made.pods.put('web'), 'c1')).rejects.toThrow();
  is.losing = false;
  const other = made.pods.put('other');
  await made.add(other, 'c2');
  await land();
  await made.settleJournal();
  expect(await below.list({ limit: 9 })).toMatchObject([{ spec: { holder: { uid: other.uid } } }]);
});

test('one entry that cannot be settled does not keep the others from it', async () => {
  const below = createMemoryLedger();
  let isAway = false;
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      if (isAway) throw new IpamError('api-server-unavailable', 'away');
      if (seen.spec.holder.name === 'cursed') throw new IpamError('internal', 'refused by a policy');
      return await below.release(seen);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const pods = ['cursed', 'fine-1', 'fine-2'].map((name) => made.pods.put(name));
  for (const pod of pods) await made.add(pod, pod.name);
  for (const pod of pods) made.pods.end(pod);
  isAway = true;
  for (const pod of pods) await made.del(pod, pod.name);
  isAway = false;
  await made.settleJournal();
  expect((await made.records()).map(({ spec }) => spec.holder.name)).toEqual(['cursed']);
  expect(made.journal.size).toBe(1);
});

test('one entry that is never answered does not keep the others from it, and is tried with backoff', async () => {
  const { ledger, is } = flaky();
  let tries = 0;
  const cursed = ledgerWith(ledger, {
    release: async (seen) => {
      if (is.away || seen.spec.holder.name !== 'cursed') return await ledger.release(seen);
      tries += 1;
      throw abandonedWrite('release', seen.name, 'an internal error occurred');
    },
  });
  const clock = turnedClock();
  await using made = await startMemoryClusterAgent([POOL], { ledger: cursed, nowMs: clock.nowMs });
  const pods = ['cursed', 'fine-1', 'fine-2'].map((name) => made.pods.put(name));
  for (const pod of pods) await made.add(pod, pod.name);
  for (const pod of pods) made.pods.end(pod);
  is.away = true;
  for (const pod of pods) await made.del(pod, pod.name);
  is.away = false;
  await made.settleJournal();
  expect((await made.records()).map(({ spec }) => spec.holder.name)).toEqual(['cursed']);
  for (let round = 0; round < 300; round += 1, clock.turn(2_000)) await made.settleJournal();
  expect(tries).toBeGreaterThan(10);
  expect(tries).toBeLessThan(100);
});

test('a round ends when three entries in a row were not answered, and the next one begins with who had no turn', async () => {
  const { ledger, is } = flaky();
  const tried: string[] = [];
  const counted = ledgerWith(ledger, {
    release: async (seen) => {
      tried.push(seen.spec.holder.name);
      return await ledger.release(seen);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger: counted });
  const pods = ['p1', 'p2', 'p3', 'p4', 'p5'].map((name) => made.pods.put(name));
  for (const pod of pods) await made.add(pod, pod.name);
  for (const pod of pods) made.pods.end(pod);
  is.away = true;
  for (const pod of pods) await made.del(pod, pod.name);
  tried.length = 0;
  await made.settleJournal();
  expect(tried).toEqual(['p1', 'p2', 'p3']);
  await made.settleJournal();
  expect(tried.slice(3)).toEqual(['p4', 'p5', 'p1']);
  is.away = false;
});

describe('an abandoned create that has not landed', () => {
  const ONE = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });

  async function startAbandoned() {
    const { ledger, below, is, land } = flaky();
    const looks = { count: 0 };
    const counted = ledgerWith(ledger, {
      get: async (name) => {
        looks.count += 1;
        return await ledger.get(name);
      },
    });
    const clock = turnedClock();
    const { nowMs, now } = clock;
    const made = await startMemoryClusterAgent([ONE], { ledger: counted, nowMs, now });
    const pod = made.pods.put('web');
    is.losing = true;
    await expect(made.add(pod, 'c1')).rejects.toThrow('may still happen');
    is.losing = false;
    looks.count = 0;
    const roundsFor = async (ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += 2_000, clock.turn(2_000)) await made.settleJournal();
    };
    return { made, pod, below, land, looks, roundsFor, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
  }

  test('is looked for with backoff, until after the ten minutes in which it may land', async () => {
    await using abandoned = await startAbandoned();
    const { made, looks, roundsFor } = abandoned;
    await roundsFor(10 * 60_000);
    expect(made.journal.size).toBe(1);
    await roundsFor(62_000);
    expect(made.journal.size).toBe(0);
    expect(looks.count).toBeGreaterThan(10);
    expect(looks.count).toBeLessThan(20);
  });

  test('is given back even if it lands at the very end of them', async () => {
    await using abandoned = await startAbandoned();
    const { made, below, land, roundsFor } = abandoned;
    await roundsFor(10 * 60_000 - 2_000);
    await land();
    await roundsFor(64_000);
    expect(await below.list({ limit: 9 })).toEqual([]);
    expect(made.journal.size).toBe(0);
  });

  test('is what its sandbox is answered with at once, also while nobody looks for it', async () => {
    await using abandoned = await startAbandoned();
    const { made, pod, land, roundsFor } = abandoned;
    await roundsFor(5 * 60_000);
    await land();
    expect(await made.add(pod, 'c1')).toEqual(['10.0.0.10']);
    await roundsFor(11 * 60_000);
    expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c1', attachGeneration: 2 } } }]);
    expect(made.journal.size).toBe(0);
  });
});
