import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { PAUSE_MS, startContendedPool } from '#test/support/contended-pool.ts';
import { newCall } from '#test/support/memory-agent.ts';

const SIZE = 3;
const address = fc.integer({ min: 10, max: 10 + SIZE - 1 }).map((last) => `10.0.0.${last}`);

type Action = { readonly verb: string; readonly address?: string };

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ verb: fc.constantFrom('free', 'free', 'rival', 'reserve', 'shrink'), address }),
  fc.record({
    verb: fc.constantFrom(
      'add',
      'add',
      'tell',
      'tell',
      'answer',
      'answer',
      'pass',
      'leave',
      'del',
      'break',
      'open',
      'open',
    ),
  }),
);

/** Calls that come and go, addresses that come back and are lost to others, and a watch that tells of it late. */
async function play(actions: readonly Action[]) {
  await using world = await startContendedPool(SIZE);
  world.creates.isHolding = true;
  const whole = world.made.catalog.current().list;
  const waiting = new Map<string, AbortController>();
  const served = new Map<string, string>();
  let count = 0;
  const acts: Record<string, (at: string) => Promise<void> | void> = {
    free: (at) => world.others.release(at),
    rival: (at) => world.others.take(at),
    add: () => {
      count += 1;
      const name = `pod-${count}`;
      const gone = new AbortController();
      waiting.set(name, gone);
      world.add(name, newCall(30_000, gone.signal)).then(
        ([got = '']) => served.set(name, got) && waiting.delete(name),
        () => waiting.delete(name),
      );
    },
    tell: () => void world.watch.tellNext(),
    answer: () => world.creates.release(),
    pass: () => world.timing.pass(PAUSE_MS / 4),
    leave: () => void waiting.values().next().value?.abort(),
    del: async () => {
      const [name] = served.keys();
      const pod = name === undefined ? null : world.made.pods.known(`uid-of-${name}`);
      if (name === undefined || !pod) return;
      served.delete(name);
      world.made.pods.end(pod);
      await world.made.del(pod, name);
    },
    break: () => world.watch.break(),
    reserve: (at) => {
      const addresses = IntervalSet.of([parseRange(at)]);
      world.made.catalog.change(whole, [{ name: 'kept', family: 4, addresses, isTerminating: false }]);
    },
    shrink: (at) => {
      const ips = world.addresses.filter((it) => it !== at);
      world.made.catalog.change([buildPool({ name: 'v4', ips, isDefault: true })]);
    },
    /** No reservation, and all of the pool. */
    open: () => world.made.catalog.change(whole),
  };
  for (const { verb, address: at = '' } of actions) {
    await acts[verb]?.(at);
    await world.settled();
  }
  world.made.catalog.change(whole);
  world.creates.isHolding = false;
  for (let round = 0; round < 20; round += 1) {
    while (world.creates.count > 0) world.creates.release();
    world.tellAll();
    world.timing.pass(PAUSE_MS * 10);
    await world.settled();
  }
  const records = await world.records();
  const held = new Set(records.map(({ spec }) => spec.address));
  const free = world.addresses.filter((it) => !held.has(it));
  const distinct = new Set(served.values()).size;
  return { free, waiting: [...waiting.keys()], distinct, served: served.size };
}

/** Sequences that failed once. */
const FOUND_BEFORE: Action[][] = [
  [
    { verb: 'free', address: '10.0.0.10' },
    { verb: 'add' },
    { verb: 'rival', address: '10.0.0.10' },
    { verb: 'free', address: '10.0.0.11' },
    { verb: 'answer' },
    { verb: 'free', address: '10.0.0.10' },
    { verb: 'rival', address: '10.0.0.11' },
  ],
];

test('whatever the order of events, no address stays free while a call waits for it', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40, size: 'max' }), async (actions) => {
      const { free, waiting, distinct, served } = await play(actions);
      if (waiting.length > 0) expect(free).toEqual([]);
      expect(distinct).toBe(served);
    }),
    { numRuns: 150, examples: FOUND_BEFORE.map((actions) => [actions] as [Action[]]) },
  );
});
