import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { AskingApplications } from './applications.ts';
import { ForeignApplications, type ForeignApplicationsOptions } from './foreign-applications.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const READ_AGAIN_MS = 31_000;

/** A pod that names the owner with this uid; null: none. */
function podOf(uid: string | null, more: Partial<PodFacts> = {}): PodFacts {
  const controller = uid === null ? null : { apiVersion: 'example.com/v1', kind: 'Game', name: 'chess', uid };
  const pod = {
    namespace: 'play',
    name: 'a',
    controller,
    subnetWish: {},
    isHostNetwork: false,
    phase: 'Running',
    deletesAtMs: null,
  };
  return { ...pod, ...more } as unknown as PodFacts;
}

async function start() {
  const reads: string[] = [];
  let tell: (change: { before: PodFacts | null; now: PodFacts | null }) => void = () => {};
  const applications = new AskingApplications();
  const unserved = new AskingApplications();
  const told: EmittedEvent[] = [];
  const withPools = new Set<string>();
  const reader = {
    read: ({ uid }: Controller) => {
      reads.push(uid);
      return Promise.resolve({ is: 'gone' });
    },
  };
  const pods = {
    synced: Promise.resolve(),
    all: () => [],
    onChange: (listener: typeof tell) => {
      tell = listener;
      return { [Symbol.dispose]: () => {} };
    },
  };
  const context = { client: {}, log: pino({ enabled: false }), isLeader: () => true, now: () => new Date() };
  const options = {
    ...context,
    pods,
    applications,
    unserved,
    reader,
    events: { emit: (event: EmittedEvent) => void told.push(event) },
    hasPools: ({ uid }: Controller) => withPools.has(uid),
    readAgainMs: READ_AGAIN_MS - 1_000,
  };
  const foreign = new ForeignApplications(options as unknown as ForeignApplicationsOptions);
  await vi.advanceTimersByTimeAsync(1);
  const readsIn = async (ms: number) => {
    reads.length = 0;
    await vi.advanceTimersByTimeAsync(ms);
    return [...new Set(reads)];
  };
  return {
    foreign,
    applications,
    unserved,
    told,
    withPools,
    readsIn,
    change: (before: PodFacts | null, now: PodFacts | null) => tell({ before, now }),
  };
}

test('an owner that a pod names no more is not read again', async () => {
  const { foreign, change, readsIn } = await start();
  await using _ = foreign;
  change(null, podOf('u1'));
  change(podOf('u1'), podOf('u2'));
  change(podOf('u2'), podOf('u3'));
  expect(await readsIn(READ_AGAIN_MS)).toEqual(['u3']);
});

test.each([
  ['is deleted', podOf('u1'), null],
  ['lost its owner and is deleted', podOf(null), null],
  ['names no owner any more', podOf('u1'), podOf(null)],
  ['asks for no subnet any more', podOf('u1'), podOf('u1', { subnetWish: null })],
])('the owner of a pod that %s is not read again', async (_name, before, now) => {
  const { foreign, change, readsIn } = await start();
  await using _ = foreign;
  change(null, podOf('u1'));
  expect(await readsIn(READ_AGAIN_MS)).toEqual(['u1']);
  change(before, now);
  expect(await readsIn(READ_AGAIN_MS)).toEqual([]);
});

test('a pod with a false uid takes nothing from the application of that name when it goes', async () => {
  const { foreign, change, applications } = await start();
  await using _ = foreign;
  const application = { apiVersion: 'example.com/v1', kind: 'Game', namespace: 'play', name: 'chess', uid: 'true' };
  applications.put({ application, wanted: [], fault: null, subnets: new Set(['office']) });
  change(null, podOf('false'));
  change(podOf('false'), null);
  expect(applications.find(application)?.application.uid).toBe('true');
});

test('one namespace that names owner after owner leaves room for those of others', async () => {
  const { foreign, change, readsIn } = await start();
  await using _ = foreign;
  const pods = Array.from({ length: 600 }, (_, at) => podOf(`u${at}`, { name: `pod-${at}` }));
  for (const pod of pods) change(null, pod);
  expect(await readsIn(1_000)).toHaveLength(500);
  change(null, podOf('other', { namespace: 'work', name: 'b' }));
  expect(await readsIn(1_000)).toEqual(['other']);
  for (const pod of pods) change(pod, null);
  change(null, podOf('next', { name: 'pod-600' }));
  expect(await readsIn(1_000)).toEqual(['next']);
});

test('an owner for which there was no room is read once there is some', async () => {
  const { foreign, change, readsIn } = await start();
  await using _ = foreign;
  const pods = Array.from({ length: 503 }, (_, at) => podOf(`u${at}`, { name: `pod-${at}` }));
  for (const pod of pods) change(null, pod);
  const [first, second] = pods as [PodFacts, PodFacts];
  expect(await readsIn(1_000)).toHaveLength(500);
  // It has gone before there is room for it.
  change(podOf('u500', { name: 'pod-500' }), null);
  change(first, null);
  expect(await readsIn(1_000)).toEqual(['u501']);
  change(second, null);
  expect(await readsIn(1_000)).toEqual(['u502']);
});

test('the more applications there are, the less often each is read again', async () => {
  const { foreign, change, readsIn } = await start();
  await using _ = foreign;
  for (let at = 0; at < 3_000; at += 1) {
    change(null, podOf(`u${at}`, { namespace: `play-${at % 6}`, name: `pod-${at}` }));
  }
  expect(await readsIn(10_000)).toHaveLength(3_000);
  expect(await readsIn(45_000)).toEqual([]);
  expect(await readsIn(10_000)).toHaveLength(3_000);
});

describe('when all places are taken', () => {
  const MOST = 500;
  const placed = (namespace: string, at: number) =>
    podOf(`${namespace}-${at}`, { namespace, name: `pod-${at}`, controller: gameOf(`${namespace}-${at}`) });
  const gameOf = (uid: string) => ({ apiVersion: 'example.com/v1', kind: 'Game', name: uid, uid });
  const applicationOf = (uid: string, namespace: string) => ({ ...gameOf(uid), namespace });

  /** Ten namespaces have all that they may have, and with it all that there is. */
  async function startFull() {
    const started = await start();
    for (let at = 0; at < 10 * MOST; at += 1) started.change(null, placed(`n${Math.floor(at / MOST)}`, at % MOST));
    await started.readsIn(1_000);
    return started;
  }

  test('a namespace with fewer gets one of a namespace with more, which is told, and has it back when there is room', async () => {
    const { foreign, change, readsIn, told, unserved } = await startFull();
    await using _ = foreign;
    change(null, placed('work', 0));
    expect(await readsIn(1_000)).toEqual(['work-0']);
    const lost = applicationOf('n0-499', 'n0');
    expect(told).toEqual([
      {
        regarding: lost,
        type: 'Warning',
        reason: 'ApplicationNotRead',
        note: expect.stringContaining(
          'at most 5000 are served in all namespaces, and a namespace with fewer of them goes first',
        ),
      },
    ]);
    expect(unserved.find(lost)?.fault).toBe(told[0]?.note);
    change(placed('n5', 7), null);
    expect(await readsIn(1_000)).toEqual(['n0-499']);
    expect(unserved.find(lost)?.fault).not.toBe(told[0]?.note);
  });

  test('an application that has a pool keeps its place, and of those that wait the namespace with the fewest is first', async () => {
    const { foreign, change, readsIn, withPools } = await startFull();
    await using _ = foreign;
    for (let namespace = 0; namespace < 10; namespace += 1)
      for (let at = 0; at < MOST; at += 1) withPools.add(`n${namespace}-${at}`);
    change(null, placed('n0', MOST));
    for (const namespace of ['work', 'play']) change(null, placed(namespace, 0));
    expect(await readsIn(1_000)).toEqual([]);
    withPools.delete('n0-0');
    change(placed('n0', 0), null);
    expect(await readsIn(1_000)).toEqual(['work-0']);
    withPools.delete('n1-3');
    change(null, placed('home', 0));
    expect(await readsIn(1_000)).toEqual(['home-0']);
  });
});
