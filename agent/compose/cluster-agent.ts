import type { Logger } from 'pino';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { judgeSandbox, needsSandboxLook } from '#agent/cluster/judge-sandbox.ts';
import { NodeWatches } from '#agent/cluster/node-watches.ts';
import { PodHolders } from '#agent/cluster/pod-holders.ts';
import { podReleaseDecision } from '#agent/cluster/pod-release-decision.ts';
import { refuseReleaseBy } from '#agent/cluster/refuse-release.ts';
import { SubnetShortages } from '#agent/cluster/subnet-shortages.ts';
import { Spool } from '#agent/debts/spool.ts';
import { isOfNode } from '#agent/node/is-own.ts';
import { describeNetnsOn } from '#agent/node/netns-evidence.ts';
import { looksFrom } from '#agent/node/netns-look.ts';
import { ApplicationVerifier } from '#agent/owners/application-verifier.ts';
import { OwnerVerifier } from '#agent/owners/owner-verifier.ts';
import type { ReadObject } from '#agent/owners/seen-owner.ts';
import { EndedPods } from '#agent/release/ended-pods.ts';
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
import { readRevision } from '#pkg/ledger/kubernetes/kubernetes-list.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { AgentEnv } from './agent-env.ts';
import { planOptionsOf, probeSettingsOf } from './agent-settings.ts';
import { startBackground } from './background.ts';
import { composeAgent } from './compose-agent.ts';
import { keepRecords } from './keep-records.ts';
import { openLedger } from './open-ledger.ts';
import { openProber } from './open-prober.ts';
import { openSight } from './open-sight.ts';
import { reportToOperators } from './operator-reports.ts';

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
  failpoint?: Failpoint,
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

  const { nodeName: node, podNamespace: namespace } = env;
  const client = starting.use(new KubeClient(loadAccess, { userAgent: `ipledger-agent/${node}` }));
  const events = starting.use(
    new EventSink(client, { reporter: 'agent', instance: env.podName, onTrouble: reportEvents(log) }),
  );
  const nowMs = performance.now.bind(performance);
  const nodeLedger = await openLedger({ client, dataDirectory, node, nowMs, log }, starting);
  const { ledger, journal, answered, revisions, index } = nodeLedger;
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
  const { pods } = watches;
  const reports = reportToOperators({ events, metrics, pods, log });
  const { multusClusterNetwork, multusNamespace } = env;
  const readOwner: ReadObject = (resource, at) => client.get(resource, at, { timeoutMs: OWNER_READ_TIMEOUT_MS });
  const holders = new PodHolders(
    {
      pods,
      namespaces: watches.namespaces,
      nodeLabels: watches.nodeLabels,
      controllers: watches.controllers,
      owners: new OwnerVerifier(readOwner, config, nowMs),
      index,
      onRefused: reports.onRefused,
    },
    {
      ...config,
      node,
      multusNamespace,
      multusClusterNetwork: multusClusterNetwork === '' ? null : multusClusterNetwork,
      describeNetns: describeNetnsOn(sight.host),
    },
  );
  const beginLooks = looksFrom(sight);
  const look = ({ spec }: IpRecord) => beginLooks()(spec.holder);
  const composed = composeAgent({
    applications: new ApplicationVerifier(readOwner, nowMs),
    shortages: new SubnetShortages(client, nowMs),
    ledger,
    index,
    catalog: watches.pools,
    holders,
    planOptions: planOptionsOf(config, env),
    spool,
    journal,
    answered,
    decideRelease: podReleaseDecision(pods, config),
    sight,
    needsLook: needsSandboxLook(pods),
    judgeLeftover: judgeSandbox(pods),
    onOutliving: reports.onOutliving,
    isStillAlive: async ({ holder, podName }) => {
      const pod = await pods.read({ namespace: holder.namespace, name: podName, uid: holder.uid });
      return pod?.uid === holder.uid && pod.isAlive;
    },
    node,
    isOwn: isOfNode(node),
    refuseRelease: refuseReleaseBy(node, { pods, look }),
    exhaustedWaitMs: config.exhaustedWaitSeconds * 1000,
    log,
    failpoint,
    prober,
    probeSettings,
    sweepTiming: sweepTimingOf(config.suspectReleaseMinutes),
    metrics,
    events,
    onConflict: reports.onConflict,
  });
  const { agent, releaser, collector, waiters, autoPools } = composed;
  metrics.watch('journal-entries', () => journal.size);
  metrics.watch('index-records', () => index.size);
  metrics.watch('spool-entries', () => spool.count());
  metrics.watch('waiting-adds', () => waiters.waiting + autoPools.waiting);
  metrics.watch('lost-events', () => events.lost);
  metrics.watch('lost-addresses', () => answered.lost.length);
  metrics.watch('outliving-sandboxes', () => collector.outliving().length);
  const server = buildServer(agent, log, { ...env, sticky: config });
  await listenOn(server, socketPath);
  starting.defer(() => stopServing(server, socketPath));
  starting.defer(composed.stopWaiting);
  starting.defer(() => agent.readiness.stop());
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
  starting.use(pods.onEnd(ended));
  const { machineID } = sight.host;
  const kept = keepRecords(
    { nodeLedger, composed, pods, beginLooks, node, machineID, nowMs, log, ...reports },
    starting,
  );
  starting.use(startBackground({ composed, watches, kept, spool, log }));
  const everything = starting.move();
  return { readiness: agent.readiness, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

function reportEvents(log: Logger) {
  return (because: string | null, message: string) =>
    because === null
      ? log.info('Events are written again')
      : log.warn({ because, why: message }, 'Events are not written');
}
