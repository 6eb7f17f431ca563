import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { judgeSandbox, needsSandboxLook } from '#agent/cluster/judge-sandbox.ts';
import { NodeWatches } from '#agent/cluster/node-watches.ts';
import { PodHolders } from '#agent/cluster/pod-holders.ts';
import { podReleaseDecision } from '#agent/cluster/pod-release-decision.ts';
import { refuseReleaseBy } from '#agent/cluster/refuse-release.ts';
import { Journal, journalled } from '#agent/debts/journal.ts';
import { Spool } from '#agent/debts/spool.ts';
import { AnsweredStore } from '#agent/node/answered-store.ts';
import { isOfNode } from '#agent/node/is-own.ts';
import { heldAfterRestore, LedgerRevisions } from '#agent/node/ledger-revisions.ts';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import { looksFrom } from '#agent/node/netns-look.ts';
import { NodeIndex } from '#agent/node/node-index.ts';
import { OwnerVerifier } from '#agent/owners/owner-verifier.ts';
import type { ReadObject } from '#agent/owners/seen-owner.ts';
import { EndedPods } from '#agent/release/ended-pods.ts';
import { RecordRestorer } from '#agent/release/record-restorer.ts';
import { refreshIndex } from '#agent/release/refresh-index.ts';
import {
  conflictEvents,
  lostAddressEvents,
  outlivingEvents,
  podBehind,
  refusedOwnerEvent,
  restoredEvent,
} from '#agent/report/agent-events.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { Readiness } from '#agent/serve/agent.ts';
import { buildServer } from '#agent/serve/server.ts';
import { stopServing } from '#agent/serve/stop-serving.ts';
import { listenOn, takeHost } from '#agent/serve/take-host.ts';
import { sweepTimingOf } from '#agent/suspects/sweep-timing.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { readRevision } from '#pkg/ledger/kubernetes/kubernetes-list.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import type { AgentEnv } from './agent-env.ts';
import { planOptionsOf, probeSettingsOf } from './agent-settings.ts';
import { startBackground } from './background.ts';
import { composeAgent } from './compose-agent.ts';
import { openProber } from './open-prober.ts';
import { openSight } from './open-sight.ts';
import { oneAtATime, spreadOut } from './repeat.ts';
import { UntilDone } from './until-done.ts';

const COMPARE_WITHIN_MS = 60_000;
const OWNER_READ_TIMEOUT_MS = 5_000;

export interface ClusterAgentConfig {
  readonly config: ClusterConfig;
  readonly env: AgentEnv;
  readonly dataDirectory: string;
  readonly spoolDirectory: string;
  readonly loadAccess: LoadAccess;
  readonly metrics: AgentMetrics;
}

export interface ClusterAgent extends AsyncDisposable {
  readonly readiness: Readiness;
}

/** Starts the agent of one node of a cluster. Returns when it listens; `readiness` says when it is ready. */
export async function startClusterAgent(
  { config, env, dataDirectory, spoolDirectory, loadAccess, metrics }: ClusterAgentConfig,
  log: Logger,
  failpoint: Failpoint = () => {},
): Promise<ClusterAgent> {
  await using starting = new AsyncDisposableStack();
  const socketPath = config.ipamUnixSocketPath;
  await takeHost({ dataDirectory, socketPath }, starting);
  const probeSettings = probeSettingsOf(config);
  const prober = openProber(probeSettings, starting, log);
  const sight = await openSight(starting, log);
  const spool = new Spool(spoolDirectory);
  await spool.prepare();
  await spool.removeUnfinished(new Date());
  const journal = await openJournal(dataDirectory, log);

  const { nodeName: node, podNamespace: namespace } = env;
  const client = starting.use(new KubeClient(loadAccess, { userAgent: `ipledger-agent/${node}` }));
  const events = starting.use(
    new EventSink(client, { reporter: 'agent', instance: env.podName, onTrouble: reportEvents(log) }),
  );
  const nowMs = performance.now.bind(performance);
  const answered = await openAnswered(dataDirectory, log);
  starting.defer(() => answered.settled());
  const revisions = new LedgerRevisions(nowMs);
  for (const record of answered.all()) revisions.note(record);
  await rememberRestores(revisions, join(dataDirectory, 'restored'));
  const raw = openKubernetesLedger(client, { onUnreadable: reportUnreadable(log) });
  starting.defer(() => raw.close());
  const held = heldAfterRestore(raw, revisions, () => readRevision(client));
  const ledger = journalled(held, journal, () => new Date());
  const index = new NodeIndex(nowMs, (record) => {
    // The target of a migration is answered with a record of the source node, which keeps it there.
    if (record.spec.holder.node === node) answered.keep(record);
  });
  const watches = starting.use(
    new NodeWatches(
      client,
      {
        node,
        namespace,
        onRestored: () => revisions.fell(),
        onReconnected: () => void revisions.compare(() => readRevision(client)),
      },
      log,
    ),
  );
  const { multusClusterNetwork, multusNamespace } = env;
  const readOwner: ReadObject = (resource, at) => client.get(resource, at, { timeoutMs: OWNER_READ_TIMEOUT_MS });
  const holders = new PodHolders(
    {
      pods: watches.pods,
      namespaces: watches.namespaces,
      nodeLabels: watches.nodeLabels,
      controllers: watches.controllers,
      owners: new OwnerVerifier(readOwner, config, nowMs),
      holderOf: (uid) => index.ofHolderUid(uid)[0]?.spec.holder ?? null,
      onRefused: (pod, why) => events.emit(refusedOwnerEvent(pod, why)),
    },
    {
      ...config,
      node,
      multusNamespace,
      multusClusterNetwork: multusClusterNetwork === '' ? null : multusClusterNetwork,
      describeNetns: describeNetnsOn(sight.host),
    },
  );
  const look = ({ spec }: IpRecord) => beginLooks()(spec.holder);
  const composed = composeAgent({
    ledger,
    index,
    catalog: watches.pools,
    holders,
    planOptions: planOptionsOf(config, env),
    spool,
    journal,
    answered,
    decideRelease: podReleaseDecision(watches.pods, config),
    sight,
    needsLook: needsSandboxLook(watches.pods),
    judgeLeftover: judgeSandbox(watches.pods),
    onOutliving: (record) => {
      const { address, holder } = record.spec;
      log.warn({ address, holder: describeHolder(record), netns: holder.netns }, 'sandbox outlives its pod');
      for (const event of outlivingEvents(record, podBehind(holder, watches.pods))) events.emit(event);
    },
    isStillAlive: async ({ holder, podName }) => {
      const pod = await watches.pods.read({ namespace: holder.namespace, name: podName, uid: holder.uid });
      return pod?.uid === holder.uid && pod.isAlive;
    },
    node,
    isOwn: isOfNode(node),
    refuseRelease: refuseReleaseBy(node, { pods: watches.pods, look }),
    exhaustedWaitMs: config.exhaustedWaitSeconds * 1000,
    log,
    failpoint,
    prober,
    probeSettings,
    sweepTiming: sweepTimingOf(config.suspectReleaseMinutes),
    metrics,
    events,
    onConflict: ({ spec }, mac) => {
      const found = { address: spec.address, mac };
      for (const event of conflictEvents(podBehind(spec.holder, watches.pods), spec.pool, found)) events.emit(event);
    },
  });
  const { agent, releaser, collector, waiters, queue } = composed;
  metrics.watch('journal-entries', () => journal.size);
  metrics.watch('index-records', () => index.size);
  metrics.watch('spool-entries', () => spool.count());
  metrics.watch('waiting-adds', () => waiters.waiting);
  metrics.watch('lost-events', () => events.lost);
  metrics.watch('outliving-sandboxes', () => collector.outliving().length);
  const server = buildServer(agent, log, { ...env, sticky: config });
  await listenOn(server, socketPath);
  starting.defer(() => stopServing(server, socketPath));
  starting.defer(() => waiters.stop());
  starting.defer(() => agent.readiness.giveUp());
  log.info({ socket: socketPath, node }, 'agent listening');

  const endedPods = starting.use(new EndedPods(collector, log));
  const ended = (uid: string) => {
    if (agent.readiness.isReady) endedPods.follow(uid);
    releaser.podEnded(uid).then(
      (released) =>
        released.length > 0 && log.info({ uid, released: released.length }, 'pod ended, kept addresses released'),
      (thrown: unknown) => log.error({ uid, why: toIpamError(thrown).message }, 'kept addresses not released'),
    );
  };
  starting.use(watches.pods.onEnd(ended));
  const beginLooks = looksFrom(sight);
  const restorer = new RecordRestorer({
    ledger: raw,
    journal,
    index,
    answered,
    queue,
    pods: watches.pods,
    node,
    look,
    onRestored: (record) => {
      metrics.recordRestored();
      events.emit(restoredEvent(podBehind(record.spec.holder, watches.pods), record));
    },
    onLost: ({ record, now }) => {
      log.error(
        { address: record.spec.address, holder: describeHolder(record), now: describeHolder(now) },
        'address is in use twice',
      );
      for (const event of lostAddressEvents(podBehind(record.spec.holder, watches.pods), record, now))
        events.emit(event);
    },
    log,
  });
  metrics.watch('lost-addresses', () => answered.lost.length);
  const refresh = oneAtATime(() =>
    refreshIndex({ ledger, index, releaser, pods: watches.pods, beginLooks, restorer, node, nowMs, log }),
  );
  const notCompared = (thrown: unknown) => log.error({ why: toIpamError(thrown).message }, 'records not compared');
  const comparing = starting.use(new UntilDone(refresh, notCompared));
  const compareRecords = () => (agent.readiness.isReady ? comparing.start() : undefined);
  revisions.onFall(() => {
    log.error('the store of the API server was restored from a backup: records are compared with live sandboxes');
    compareRecords();
  });
  // A restore with a small revision bump looks like a restart of the API server. All agents see it at the same time.
  const afterBreak = starting.use(spreadOut(async () => compareRecords(), COMPARE_WITHIN_MS, notCompared));
  revisions.afterBreak(() => afterBreak.ask());
  starting.use(startBackground({ composed, watches, refresh, spool, log }));
  const everything = starting.move();
  return { readiness: agent.readiness, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** The time of the file says when a restore was noticed: a restart in the minute after it must not end the hold. */
async function rememberRestores(revisions: LedgerRevisions, file: string): Promise<void> {
  const noticed = await stat(file).catch(() => null);
  if (noticed !== null) revisions.resume(Date.now() - noticed.mtimeMs);
  revisions.onFall(() => void writeFile(file, '', { mode: 0o600 }).catch(() => {}));
}

async function openAnswered(dataDirectory: string, log: Logger): Promise<AnsweredStore> {
  return await AnsweredStore.open(join(dataDirectory, 'answered'), (file, why) =>
    log.warn({ file, why }, 'answered attachment not kept on disk'),
  );
}

async function openJournal(dataDirectory: string, log: Logger): Promise<Journal> {
  return await Journal.open(join(dataDirectory, 'journal'), (file, why) =>
    log.error({ file, why }, 'journal entry cannot be read and is skipped'),
  );
}

function reportEvents(log: Logger) {
  return (because: string | null, message: string) =>
    because === null
      ? log.info('Events are written again')
      : log.warn({ because, why: message }, 'Events are not written');
}

function reportUnreadable(log: Logger) {
  return (name: string, why: string) => log.error({ record: name, why }, 'record cannot be read');
}
