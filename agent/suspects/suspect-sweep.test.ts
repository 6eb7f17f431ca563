import { expect, onTestFinished, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';
import { sweepTimingOf } from './sweep-timing.ts';

type ProbeVerdict = ScriptedProber['verdicts'][string];

const MINUTE_MS = 60_000;
const POOL = buildPool({ name: 'v4', subnet: '10.0.0.0/16', ips: ['10.0.0.0-10.0.3.255'], isDefault: true });
const CONFLICT: ProbeVerdict = { kind: 'conflict', mac: '02:00:00:00:00:99' };
const NOT_STOPPED = new AbortController().signal;

/** Of this very node, so that no other node has a turn; the agent does not see its namespace. */
async function suspectIn(ledger: Ledger, address: string, holder: Partial<Holder> = {}): Promise<IpRecord> {
  const lost = { kind: 'Pod', namespace: 'prod', name: 'lost', uid: `uid-of-${address}`, node: 'worker-1' } as const;
  const pool = { kind: 'SpiderIPPool', name: 'v4', uid: POOL.uid } as const;
  const { record } = await ledger.create(
    buildRecord({ address, pool, holder: { ...lost, netns: '/nowhere/at/all', ...holder } }).spec,
  );
  const outcome = record === null ? null : await ledger.amend(record, { ...record.spec, state: 'Suspect' });
  if (outcome?.done !== true) throw new Error(`${address} is not Suspect`);
  return outcome.record;
}

interface Node {
  readonly name: string;
  readonly followed: () => readonly string[];
  readonly step: () => Promise<void>;
  readonly agent: Awaited<ReturnType<typeof startMemoryClusterAgent>>;
}

/** Nodes with a living pod each in the pool; the first ones have not seen the records of the last ones. */
async function startSite(nodes: number, ledger: Ledger, prober = new ScriptedProber()) {
  let laterMs = 0;
  const clock = { nowMs: () => performance.now() + laterMs };
  const made: Node[] = [];
  for (let at = 1; at <= nodes; at += 1) {
    const name = `worker-${at}`;
    const timing = sweepTimingOf(60);
    const agent = await startMemoryClusterAgent([POOL], { ledger, prober, node: name, sweepTiming: timing, ...clock });
    onTestFinished(async () => await agent[Symbol.asyncDispose]());
    await agent.add(agent.pods.put(`web-${at}`), `c${at}`);
    const { sweep } = agent;
    if (sweep === null) throw new Error('there is no sweep');
    made.push({ name, agent, followed: () => sweep.followed, step: () => sweep.step(NOT_STOPPED) });
  }
  return {
    nodes: made,
    prober,
    /** Lets time go by in steps of half a minute, as the background does, or longer ones. */
    pass: async (minutes: number, who = made, everyMs = 30_000) => {
      for (let leftMs = minutes * MINUTE_MS; leftMs > 0; leftMs -= everyMs) {
        laterMs += everyMs;
        for (const node of who) await node.step();
      }
    },
  };
}

test('an address that stays Suspect for an hour is freed after three silent rounds two minutes apart', async () => {
  const ledger = createMemoryLedger();
  const suspect = await suspectIn(ledger, '10.0.0.7');
  const { pass, prober } = await startSite(1, ledger);
  await pass(59);
  expect(prober.probed).toEqual([]);
  await pass(2);
  expect(prober.probed).toEqual(['10.0.0.7']);
  await pass(1);
  expect(prober.probed).toHaveLength(1);
  await pass(2);
  expect(prober.probed).toHaveLength(2);
  expect(await ledger.get('10.0.0.7')).toEqual(suspect);
  await pass(3);
  expect(prober.probed).toHaveLength(3);
  expect(await ledger.get('10.0.0.7')).toBeNull();
});

test('a node whose view is older than the Suspect address learns of it within the hour, by one list an hour', async () => {
  const below = createMemoryLedger();
  let lists = 0;
  const ledger = ledgerWith(below, {
    takenOf: async (pool) => {
      lists += 1;
      return await below.takenOf(pool);
    },
  });
  const { pass } = await startSite(1, ledger);
  await suspectIn(below, '10.0.0.7');
  lists = 0;
  await pass(62);
  expect(lists).toBeGreaterThan(0);
  await pass(90);
  expect(await below.get('10.0.0.7')).toBeNull();
  lists = 0;
  await pass(600);
  expect(lists).toBeGreaterThanOrEqual(9);
  expect(lists).toBeLessThanOrEqual(12);
});

test('what changes in between begins anew, on the clock of this agent', async () => {
  const ledger = createMemoryLedger();
  const suspect = await suspectIn(ledger, '10.0.0.7');
  const { pass, prober } = await startSite(1, ledger);
  await pass(62);
  expect(prober.probed).toHaveLength(1);
  const holder = { ...suspect.spec.holder, attachGeneration: 2 };
  await ledger.amend(suspect, { ...suspect.spec, holder });
  await pass(58);
  expect(prober.probed).toHaveLength(1);
  await pass(30);
  expect(await ledger.get('10.0.0.7')).toBeNull();
});

test('a record that its own agent touches every 20 minutes is never even asked for', async () => {
  const ledger = createMemoryLedger();
  let record = await suspectIn(ledger, '10.0.0.7');
  const { pass, prober } = await startSite(2, ledger);
  for (let times = 0; times < 15; times += 1) {
    await pass(20);
    const { attachGeneration } = record.spec.holder;
    const outcome = await ledger.amend(record, {
      ...record.spec,
      holder: { ...record.spec.holder, attachGeneration: attachGeneration + 1 },
    });
    if (!outcome.done) throw new Error('it was changed by somebody else');
    record = outcome.record;
  }
  expect(prober.probed).toEqual([]);
});

const NOT_SILENT: readonly { readonly name: string; readonly verdict: ProbeVerdict; readonly rounds: number }[] = [
  { name: 'somebody answers', verdict: CONFLICT, rounds: 1 },
  { name: 'the probe fails', verdict: { kind: 'failed', why: 'eth0 is down' }, rounds: 1 },
  { name: 'no probe is possible', verdict: { kind: 'skipped', why: 'an ipvlan' }, rounds: 1 },
  { name: 'the gateway is silent too', verdict: { kind: 'gateway-unreachable' }, rounds: 1 },
];

test.each(NOT_SILENT)('where $name in the third round the address is kept, and its hour begins anew', async (row) => {
  const ledger = createMemoryLedger();
  const suspect = await suspectIn(ledger, '10.0.0.7');
  const { pass, prober } = await startSite(1, ledger);
  await pass(64);
  expect(prober.probed).toHaveLength(2);
  prober.verdicts['10.0.0.7'] = row.verdict;
  await pass(3);
  expect(prober.probed).toHaveLength(2 + row.rounds);
  delete prober.verdicts['10.0.0.7'];
  await pass(55);
  expect(prober.probed).toHaveLength(2 + row.rounds);
  expect(await ledger.get('10.0.0.7')).toEqual(suspect);
});

test('the question goes out of the interface of a living pod of the pool, and nowhere else', async () => {
  const ledger = createMemoryLedger();
  const suspect = await suspectIn(ledger, '10.0.0.7');
  const { pass, prober, nodes } = await startSite(1, ledger);
  const [node] = nodes;
  const pod = node?.agent.pods.known('uid-of-web-1');
  if (!pod) throw new Error('there is no pod');
  node?.agent.pods.remove(pod);
  await pass(120);
  expect(prober.probed).toEqual([]);
  expect(await ledger.get('10.0.0.7')).toEqual(suspect);
});

test.each<{ name: string; holder: Partial<Holder> }>([
  { name: 'of a static pod', holder: { static: true } },
  { name: 'of a claim', holder: { kind: 'IPAddressClaim' } },
  { name: 'of this node, whose sandbox this agent sees', holder: { netns: '/proc/self/ns/net' } },
])('a Suspect address $name is left alone', async ({ holder }) => {
  const ledger = createMemoryLedger();
  await suspectIn(ledger, '10.0.0.7', holder);
  const { pass, prober } = await startSite(1, ledger);
  await pass(120);
  expect(prober.probed).toEqual([]);
  expect(await ledger.get('10.0.0.7')).toMatchObject({ spec: { state: 'Suspect' } });
});

test('of n nodes each follows every address once in n rounds, and those of a dead node are followed too', async () => {
  const ledger = createMemoryLedger();
  const names = Array.from({ length: 30 }, (_, at) => `10.0.1.${at}`);
  for (const name of names) await suspectIn(ledger, name, { node: 'worker-99' });
  const { pass, nodes } = await startSite(5, ledger);
  const [, ...alive] = nodes;
  await pass(0.5, alive);
  const first = alive.flatMap((node) => node.followed());
  expect(first.length).toBeLessThan(3 * names.length);
  // worker-99, where the lost pods were, has a rank too.
  await pass(6 * 11.5, alive, 11.5 * MINUTE_MS);
  const followed = new Set(alive.flatMap((node) => node.followed()));
  expect([...followed].toSorted()).toEqual(names.toSorted());
});

test('an agent follows at most 64 addresses, and all of them come back in the end', async () => {
  const ledger = createMemoryLedger();
  for (let at = 0; at < 100; at += 1) await suspectIn(ledger, `10.0.1.${at}`);
  const { pass, nodes } = await startSite(1, ledger);
  await pass(1);
  expect(nodes[0]?.followed()).toHaveLength(64);
  await pass(70);
  expect((await ledger.list({ limit: 1_000 })).filter(({ spec }) => spec.state === 'Suspect')).toHaveLength(36);
  await pass(85);
  expect((await ledger.list({ limit: 1_000 })).filter(({ spec }) => spec.state === 'Suspect')).toEqual([]);
});

test('two agents at one address free it once, and what was created meanwhile is not touched', async () => {
  const below = createMemoryLedger();
  await suspectIn(below, '10.0.0.7', { node: 'worker-2' });
  const takers: string[] = [];
  const releases: string[] = [];
  const gate = Promise.withResolvers<void>();
  const ledger = ledgerWith(below, {
    takeOver: async (seen, next) => {
      takers.push(next.holder.node);
      // The first one has heard three silences, and writes only after the second one has freed the address.
      if (takers.length === 1) await gate.promise;
      return await below.takeOver(seen, next);
    },
    release: async (seen) => {
      releases.push(seen.spec.holder.node);
      return await below.release(seen);
    },
  });
  const { pass, nodes } = await startSite(2, ledger);
  const racing = pass(90);
  const first = await until(async () => takers[0] ?? null);
  const others = nodes.filter(({ name }) => name !== first);
  await pass(90, others);
  expect(await below.get('10.0.0.7')).toBeNull();
  const next = await below.create(buildRecord({ address: '10.0.0.7', holder: { uid: 'next' } }).spec);
  gate.resolve();
  await racing;
  expect(takers).toEqual([first, others[0]?.name]);
  expect(releases).toEqual([others[0]?.name]);
  expect(await below.get('10.0.0.7')).toEqual(next.record);
});

test('what an agent left behind when it died between its two writes names a pod that is gone, and comes back', async () => {
  const below = createMemoryLedger();
  await suspectIn(below, '10.0.0.7', { netns: '/nowhere/lost', containerID: 'c-lost' });
  const dead = Promise.withResolvers<never>();
  const dying = ledgerWith(below, { release: () => dead.promise });
  const before = await startSite(1, dying);
  void before.pass(70);
  const left = await until(async () => {
    const record = await below.get('10.0.0.7');
    return record?.spec.state === 'Allocated' ? record : null;
  });
  expect(left.spec.holder).toMatchObject({ kind: 'Pod', name: 'lost', uid: 'uid-of-10.0.0.7', node: 'worker-1' });
  for (const trace of ['containerID', 'netns', 'netnsInode', 'bootID', 'machineID'])
    expect(left.spec.holder).not.toHaveProperty(trace);

  // The next agent of the node has no proof that its sandbox is gone, so the controller makes the record Suspect again.
  const after = await startSite(1, below);
  await after.pass(10);
  await after.nodes[0]?.agent.collector.collect(false);
  expect(await below.get('10.0.0.7')).toEqual(left);
  await below.amend(left, { ...left.spec, state: 'Suspect' });
  await after.nodes[0]?.agent.refresh();
  await after.pass(200);
  expect(await below.get('10.0.0.7')).toBeNull();
});

async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it never came to that');
}
