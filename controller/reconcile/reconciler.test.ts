import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { type Failure, type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { type Reconciler, startReconciler } from './reconciler.ts';

const SYNCED = { synced: Promise.resolve() };

function start(reconciler: Partial<Reconciler>, isLeader = () => true, timing = SYSTEM_TIMING) {
  const lines: object[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const client = { timing };
  const context = { client, log, isLeader, now: () => new Date() } as Parameters<typeof startReconciler>[0];
  const started = startReconciler(context, {
    kind: 'pool',
    failed: 'pool not reconciled',
    debounceMs: 5,
    caches: [SYNCED],
    watch: (enqueue) => {
      enqueue('a');
      return [];
    },
    reconcile: async () => undefined,
    ...reconciler,
  });
  return { lines, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() };
}

/** How often a pass runs whose write ends so. */
async function countPasses(because: FailureKind | null, more: Partial<Failure> = {}) {
  const send = vi.fn(async () =>
    because === null ? ({ ok: true, object: 1 } as const) : { ...failure(because, 'it says no'), ...more },
  );
  await using started = start({ reconcile: async (_, { write }) => (await write('write a', send)).requeueMs });
  await vi.waitFor(() => expect(send).toHaveBeenCalled(), 20_000);
  await wait(60);
  return { passes: send.mock.calls.length, lines: started.lines };
}

test.each([
  { name: 'success', because: null },
  { name: 'NotFound', because: 'NotFound' as const },
])('a key is done after a write that ended in $name', async ({ because }) => {
  expect(await countPasses(because)).toEqual({ passes: 1, lines: [] });
});

test.each([{ because: 'Forbidden' as const }, { because: 'NotServed' as const }])(
  'a key is done, without a warning, where the namespace to create it in is gone ($because)',
  async ({ because }) => {
    expect(await countPasses(because, { isNamespaceGone: true })).toEqual({ passes: 1, lines: [] });
  },
);

test.each([{ because: 'Conflict' as const }, { because: 'AlreadyExists' as const }])(
  'a key is requeued without a warning when its write ended in $because',
  async ({ because }) => {
    const { passes, lines } = await countPasses(because);
    expect(passes).toBeGreaterThan(2);
    expect(lines).toEqual([]);
  },
);

test('conflicts in a row are retried after ever longer pauses, however many a pass has, until a pass has none', async () => {
  const pauses: (number | undefined)[] = [];
  const conflict = async () => failure('Conflict', 'the object has been modified');
  const reconcile: Reconciler['reconcile'] = async (_, { write }) => {
    const isSent = pauses.length === 4;
    const send = isSent ? async () => ({ ok: true, object: 1 }) as const : conflict;
    const [{ requeueMs }] = [await write('write a', send), await write('write b', send)];
    pauses.push(requeueMs);
    return isSent ? 1 : requeueMs;
  };
  await using _started = start({ reconcile }, () => true, { ...SYSTEM_TIMING, random: () => 1 });
  await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(6), 20_000);
  expect(pauses.slice(0, 7)).toEqual([5, 10, 20, 40, undefined, 5, 10]);
});

test('any other failure is logged with its key and retried with backoff', async () => {
  const { passes, lines } = await countPasses('ServerError');
  expect(passes).toBeLessThanOrEqual(2);
  expect(lines[0]).toMatchObject({
    msg: 'pool not reconciled',
    pool: 'a',
    err: { message: 'write a: ServerError: it says no' },
  });
});

test('a process that is not the leader starts no pass', async () => {
  const reconcile = vi.fn(async () => undefined);
  await using _started = start({ reconcile }, () => false);
  await wait(50);
  expect(reconcile).not.toHaveBeenCalled();
});

test('a pass during which the leadership is lost sends no write', async () => {
  let leads = true;
  const send = vi.fn(async () => ({ ok: true, object: 1 }) as const);
  const requeues: (number | undefined)[] = [];
  await using _started = start(
    {
      reconcile: async (_, { write }) => {
        leads = false;
        requeues.push((await write('write a', send)).requeueMs);
        return undefined;
      },
    },
    () => leads,
  );
  await vi.waitFor(() => expect(requeues).toEqual([2_000]), 20_000);
  expect(send).not.toHaveBeenCalled();
});

test('nothing is watched before every cache has synced, and events within the debounce time make one pass', async () => {
  const late = Promise.withResolvers<void>();
  const reconcile = vi.fn(async () => undefined);
  const watch = vi.fn<Reconciler['watch']>((enqueue) => {
    for (const key of ['a', 'b', 'a', 'a']) enqueue(key);
    return [];
  });
  await using _started = start({ caches: [SYNCED, { synced: late.promise }], watch, reconcile });
  await wait(20);
  expect(watch).not.toHaveBeenCalled();
  late.resolve();
  await wait(50);
  expect(reconcile.mock.calls.map(([key]: unknown[]) => key)).toEqual(['a', 'b']);
});

test('disposing ends the subscriptions, and a cache that closes before it has synced is no failure', async () => {
  const dispose = vi.fn();
  const started = start({ watch: () => [{ [Symbol.dispose]: dispose }] });
  await wait(5);
  await started[Symbol.asyncDispose]();
  expect(dispose).toHaveBeenCalledOnce();
  await using _closed = start({ caches: [{ synced: Promise.reject(new Error('closed')) }] });
  await wait(5);
});
