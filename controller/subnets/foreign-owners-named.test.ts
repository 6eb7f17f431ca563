import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
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
    unserved: new AskingApplications(),
    reader,
    events: { emit: () => {} },
    hasPools: () => false,
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
