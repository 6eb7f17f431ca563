import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Journal } from '#agent/debts/journal.ts';
import { Spool } from '#agent/debts/spool.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { MemoryPods } from '#test/support/memory-pods.ts';
import { unsteadyLedger, type Weather } from '#test/support/unsteady-ledger.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.15'], isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const NAMES = ['web-a', 'web-b', 'db-0'] as const;

const onPod = fc.record({
  verb: fc.constantFrom('add', 'again', 'again', 'del', 'conflict', 'end'),
  name: fc.constantFrom(...NAMES),
});
const onWorld = fc.record({
  verb: fc.constantFrom('settle', 'refresh', 'crash', 'land'),
});
const weather = fc.record({
  verb: fc.constant('weather'),
  weather: fc.constantFrom<Weather>('fine', 'fine', 'away', 'mute', 'late', 'closed'),
});
type Action = { readonly verb: string; readonly name?: string; readonly weather?: Weather };

const add = (name: string) => ({ verb: 'add', name });
const again = (name: string) => ({ verb: 'again', name });
const turn = (next: Weather) => ({ verb: 'weather', weather: next });

/** Sequences that failed once. */
const FOUND_BEFORE: Action[][] = [
  [add('web-b'), { verb: 'del', name: 'web-b' }, again('web-b'), { verb: 'end', name: 'web-b' }],
  [turn('late'), add('db-0'), add('db-0'), { verb: 'land' }, { verb: 'refresh' }],
  [
    turn('late'),
    add('db-0'),
    turn('fine'),
    again('db-0'),
    { verb: 'crash' },
    turn('mute'),
    { verb: 'land' },
    add('db-0'),
    add('db-0'),
  ],
  [
    turn('late'),
    add('web-a'),
    add('web-a'),
    again('web-a'),
    { verb: 'land' },
    again('web-a'),
    { verb: 'crash' },
    add('web-a'),
  ],
  [
    turn('late'),
    add('db-0'),
    turn('fine'),
    add('db-0'),
    { verb: 'conflict', name: 'db-0' },
    turn('mute'),
    { verb: 'land' },
    { verb: 'crash' },
    add('db-0'),
  ],
  [
    turn('late'),
    add('web-a'),
    { verb: 'land' },
    { verb: 'refresh' },
    { verb: 'settle' },
    { verb: 'refresh' },
    turn('fine'),
    { verb: 'again', name: 'web-a' },
    { verb: 'land' },
    { verb: 'crash' },
    add('web-a'),
  ],
];

/** What the runtime knows about one pod name. */
interface Life {
  pod: NodePod | null;
  /** The sandbox whose ADD was answered, and the answer. */
  running: { readonly containerID: string; readonly addresses: readonly string[] } | null;
  last: string | null;
  /** Sandboxes whose DEL has not been called since their last ADD. */
  readonly owesDel: Set<string>;
}

/** A node whose agent crashes and restarts on the same directories, and the runtime that calls it. */
async function makeNode() {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-node-'));
  const below = createMemoryLedger();
  const network = unsteadyLedger(below);
  const lives = new Map<string, Life>(
    NAMES.map((name) => [name, { pod: null, running: null, last: null, owesDel: new Set() }]),
  );
  let laterMs = 0;
  const nowMs = () => performance.now() + laterMs;
  const now = () => new Date(Date.now() + laterMs);
  const netnsOf = (containerID: string) => join(directory, containerID);
  let count = 0;
  const agents: MemoryClusterAgent[] = [];
  const start = async () => {
    const { weather: before } = network;
    network.weather = 'fine'; // an agent that cannot read its records is not ready
    const pods = new MemoryPods();
    for (const { pod } of lives.values()) if (pod !== null) pods.put(pod.name, pod);
    const journal = await Journal.open(join(directory, 'journal'), (file, why) => {
      throw new Error(`${file}: ${why}`);
    });
    const spool = new Spool(join(directory, 'spool'));
    const { ledger } = network;
    agents.push(await startMemoryClusterAgent([POOL], { ledger, pods, journal, spool, now, nowMs }));
    network.weather = before;
  };
  await start();
  const agent = () => agents.at(-1) as MemoryClusterAgent;

  /** Uses the sandbox of the previous try or a new one, as kubelet does. */
  const addOf = async (name: string, life: Life, isAgain: boolean) => {
    count += 1;
    if (life.pod?.isAlive !== true) {
      if (life.owesDel.size > 0) return; // the next pod of this name is created after the previous one is gone
      life.pod = agent().pods.put(name, { uid: `${name}-${count}`, controller: name === 'db-0' ? SET : null });
      life.last = null;
    }
    const containerID = life.running?.containerID ?? (isAgain ? life.last : null) ?? `c${count}`;
    life.last = containerID;
    life.owesDel.add(containerID);
    await writeFile(netnsOf(containerID), '');
    const addresses = await agent()
      .add(life.pod, containerID, { netNamespace: netnsOf(containerID) })
      .catch(() => null);
    if (addresses === null) return;
    if (life.running !== null) expect(addresses).toEqual(life.running.addresses);
    life.running = { containerID, addresses };
  };
  const del = async (life: Life) => {
    life.running = null;
    for (const containerID of life.owesDel) {
      await rm(netnsOf(containerID));
      if (life.pod !== null) await agent().del(life.pod, containerID);
    }
    life.owesDel.clear();
  };
  /** A plugin of the sandbox found a conflict: the sandbox is unusable, and its DEL comes later. */
  const conflict = async (life: Life) => {
    if (life.pod === null || life.running === null) return;
    const { namespace: podNamespace, name: podName, uid: podUID } = life.pod;
    const { containerID } = life.running;
    life.running = null;
    await agent().agent.delContainer({ containerID, podNamespace, podName, podUID });
  };
  const end = (life: Life) => {
    if (life.pod?.isAlive !== true) return;
    agent().pods.end(life.pod);
    life.pod = { ...life.pod, isAlive: false };
  };

  const world: Record<string, () => Promise<void>> = {
    settle: () => agent().settleJournal(),
    refresh: () =>
      agent()
        .refresh()
        .catch(() => {}),
    crash: start,
    land: network.land,
  };
  return {
    below,
    async act({ verb, name = '', weather: next }: Action) {
      const life = lives.get(name);
      if (next !== undefined) network.weather = next;
      else if (life === undefined) await world[verb]?.();
      else if (verb === 'add' || verb === 'again') await addOf(name, life, verb === 'again');
      else if (verb === 'del') await del(life);
      else if (verb === 'conflict') await conflict(life);
      else end(life);
      await agent().endsHandled();
    },
    /** Each pod that was answered holds its record. */
    async check() {
      for (const { pod, running } of lives.values()) {
        for (const address of running?.addresses ?? []) {
          const holder = { uid: pod?.uid, containerID: running?.containerID };
          expect((await below.get(address))?.spec).toMatchObject({ state: 'Allocated', holder });
        }
      }
    },
    /** The network works again, all delayed requests have arrived, and the runtime ends all pods. */
    async wind() {
      network.weather = 'fine';
      await network.land();
      for (const life of lives.values()) end(life);
      await agent().endsHandled();
      for (const life of lives.values()) await del(life);
      for (let minute = 0; minute < 12; minute += 1) {
        await agent().settleJournal();
        await agent().refresh();
        await agent().collector.collect(false);
        laterMs += 60_000;
      }
      return { records: await below.list({ limit: 100 }), owed: agent().journal.size };
    },
    [Symbol.asyncDispose]: async () => {
      for (const made of agents) await made[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

test('with lost and late requests and crashes, an answered pod holds its address, and in the end only records of sticky pods remain', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof<fc.Arbitrary<Action>[]>(onPod, onPod, onPod, onWorld, weather), { maxLength: 60, size: 'max' }),
      async (actions) => {
        await using node = await makeNode();
        for (const action of actions) {
          await node.act(action);
          await node.check();
        }
        const { records, owed } = await node.wind();
        expect(records.filter(({ spec }) => spec.state !== 'Retained')).toEqual([]);
        expect(records.length).toBeLessThanOrEqual(1);
        expect(owed).toBe(0);
      },
    ),
    { numRuns: 150, examples: FOUND_BEFORE.map((actions) => [actions]) },
  );
});
