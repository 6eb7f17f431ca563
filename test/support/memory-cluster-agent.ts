import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { judgeSandbox, needsSandboxLook } from '#agent/cluster/judge-sandbox.ts';
import { PodHolders, type PodHoldersPorts } from '#agent/cluster/pod-holders.ts';
import { podReleaseDecision } from '#agent/cluster/pod-release-decision.ts';
import { refuseReleaseBy } from '#agent/cluster/refuse-release.ts';
import { type ComposedAgent, composeAgent } from '#agent/compose/compose-agent.ts';
import type { AgentPorts } from '#agent/compose/compose-ports.ts';
import { Journal, journalled } from '#agent/debts/journal.ts';
import { Spool } from '#agent/debts/spool.ts';
import { AnsweredStore } from '#agent/node/answered-store.ts';
import { isOfNode } from '#agent/node/is-own.ts';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import { hostSight, type LookAtNetns, looksFrom } from '#agent/node/netns-look.ts';
import { NodeIndex } from '#agent/node/node-index.ts';
import { readKnown } from '#agent/release/known-records.ts';
import { RecordRestorer } from '#agent/release/record-restorer.ts';
import { refreshIndex } from '#agent/release/refresh-index.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import type { AddArgs, DelArgs } from '#pkg/agentapi/wire.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { believingOwners } from './believing-owners.ts';
import { addArgs, delArgs, FixedCatalog, NO_PROBING, newCall } from './memory-agent.ts';
import { createMemoryLedger } from './memory-ledger.ts';
import { MemoryPods } from './memory-pods.ts';

const SWITCHES = { enableStatefulSet: true, enableKubevirtStaticIP: true };

export interface MemoryClusterAgent extends ComposedAgent, AsyncDisposable {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly pods: MemoryPods;
  readonly journal: Journal;
  readonly spool: Spool;
  readonly catalog: FixedCatalog;
  readonly answered: AnsweredStore;
  /** The addresses of the records that were created again. */
  readonly restored: readonly string[];
  readonly resting: readonly string[];
  /** Compares with a list of the node's records. */
  refresh(): Promise<void>;
  /** Compares with what is found under the known names. */
  confirm(): Promise<void>;
  /** Resolves when all work that ended pods have started is done. */
  endsHandled(): Promise<void>;
  /** The addresses without their prefix lengths. */
  add(pod: NodePod, containerID: string, more?: Partial<AddArgs>): Promise<string[]>;
  del(pod: NodePod, containerID: string, more?: Partial<DelArgs>): Promise<void>;
  records(): Promise<IpRecord[]>;
}

/** The agent of a cluster on a memory ledger, without a socket and an API server, for tests that control the order of events. */
export async function startMemoryClusterAgent(
  pools: readonly Pool[],
  wish: Partial<AgentPorts> & {
    readonly pods?: MemoryPods;
    readonly isReady?: boolean;
    readonly look?: LookAtNetns;
    readonly controllers?: PodHoldersPorts['controllers'];
  } = {},
): Promise<MemoryClusterAgent> {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-memory-'));
  const restored: string[] = [];
  const resting: string[] = [];
  const { pods = new MemoryPods(), now = () => new Date(), node = 'worker-1' } = wish;
  const sight = wish.sight ?? hostSight({ bootID: 'boot-1', machineID: 'machine-1' });
  const beginLooks = looksFrom(sight);
  const { look = (holder) => beginLooks()(holder) } = wish;
  const nowMs = wish.nowMs ?? (() => performance.now());
  const journal = wish.journal ?? (await Journal.open(join(directory, 'journal'), failOn));
  const spool = wish.spool ?? new Spool(join(directory, 'spool'));
  await spool.prepare();
  const raw = wish.ledger ?? createMemoryLedger();
  const ledger = journalled(raw, journal, now);
  const answered = wish.answered ?? (await AnsweredStore.open(join(directory, 'answered'), node, failOn));
  const index = new NodeIndex(nowMs, answered);
  const catalog = new FixedCatalog(pools);
  const { log = pino({ level: 'silent' }) } = wish;
  const holders = new PodHolders(
    {
      pods,
      namespaces: { find: async () => ({ labels: {}, annotations: {} }) },
      nodeLabels: { current: () => ({}) },
      controllers: wish.controllers ?? { find: async (pod) => controllerOf(pod) },
      owners: believingOwners(SWITCHES),
      index,
      onRefused: () => {},
    },
    {
      ...SWITCHES,
      node,
      multusNamespace: 'ipledger',
      multusClusterNetwork: null,
      describeNetns: describeNetnsOn(sight.host),
    },
  );
  const composed = composeAgent({
    index,
    holders,
    planOptions: {
      enableIPv4: true,
      enableIPv6: true,
      enableSubnets: true,
      enableAutoPools: true,
      multusNamespace: 'ipledger',
    },
    applications: { whyNot: async () => null },
    shortages: { find: async () => null },
    decideRelease: podReleaseDecision(pods, SWITCHES),
    sight,
    needsLook: needsSandboxLook(pods),
    judgeLeftover: judgeSandbox(pods, now),
    isStillAlive: async ({ holder, podName }) => {
      const pod = await pods.read({ namespace: holder.namespace, name: podName, uid: holder.uid });
      return pod?.uid === holder.uid && pod.isAlive;
    },
    node,
    isOwn: isOfNode(node),
    refuseRelease: refuseReleaseBy(node, { pods, look: ({ spec }) => look(spec.holder) }),
    exhaustedWaitMs: 0,
    log,
    failpoint: () => {},
    prober: null,
    probeSettings: NO_PROBING,
    pause: async () => {},
    ...wish,
    nowMs,
    now,
    ledger,
    catalog,
    spool,
    journal,
    answered,
  });
  const { agent, releaser } = composed;
  const ends: Promise<unknown>[] = [];
  pods.onEnd((uid) => void ends.push(releaser.podEnded(uid)));
  const restorer = new RecordRestorer({
    ledger: raw,
    journal,
    index,
    answered,
    queue: composed.queue,
    pods,
    node,
    look: ({ spec }) => look(spec.holder),
    onResting: (record) => resting.push(record.spec.address),
    onRestored: (record) => restored.push(record.spec.address),
    onLost: () => {},
    log,
  });
  const { machineID } = sight.host;
  const compareWith = (read: () => Promise<IpRecord[]>) =>
    refreshIndex({ ledger, index, releaser, pods, beginLooks, restorer, node, machineID, nowMs, log, read });
  const refresh = () => compareWith(() => ledger.byNode(node));
  await refresh();
  if (wish.isReady ?? true) agent.readiness.become();
  return {
    ...composed,
    ledger,
    index,
    pods,
    journal,
    spool,
    catalog,
    answered,
    restored,
    resting,
    refresh,
    confirm: () => compareWith(() => readKnown({ ledger, index, answered, node })),
    endsHandled: async () => void (await Promise.all(ends)),
    add: async (pod, containerID, more) => {
      const answer = await agent.add(addArgs(containerID, { ...nameOf(pod), ...more }), newCall());
      return answer.ips.map(({ address }) => address.split('/')[0] ?? '');
    },
    del: (pod, containerID, more) => agent.del(delArgs(containerID, { ...nameOf(pod), ...more })),
    records: () => ledger.list({ limit: 1_000 }),
    [Symbol.asyncDispose]: async () => {
      await answered.settled();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function failOn(file: string, why: string): never {
  throw new Error(`${file}: ${why}`);
}

function nameOf({ namespace, name, uid }: NodePod) {
  return { podNamespace: namespace, podName: name, podUID: uid };
}

function controllerOf({ controller, namespace }: NodePod): Controller | null {
  return controller === null ? null : { ...controller, namespace };
}
