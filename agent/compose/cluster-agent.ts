import type { Logger } from 'pino';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { NodeWatches } from '#agent/cluster/node-watches.ts';
import { Spool } from '#agent/debts/spool.ts';
import { EndedPods } from '#agent/release/ended-pods.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { Readiness } from '#agent/serve/agent.ts';
import { buildServer } from '#agent/serve/server.ts';
import { stopServing } from '#agent/serve/stop-serving.ts';
import { listenOn, takeHost } from '#agent/serve/take-host.ts';
import type { Pods } from '#agent/sources/pods.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import { readRevision } from '#pkg/ledger/kubernetes/kubernetes-list.ts';
import type { AgentEnv } from './agent-env.ts';
import { probeSettingsOf } from './agent-settings.ts';
import { startBackground } from './background.ts';
import type { ComposedAgent } from './compose-agent.ts';
import { composeCluster } from './compose-cluster.ts';
import { keepRecords } from './keep-records.ts';
import { type NodeLedger, openLedger } from './open-ledger.ts';
import { openProber } from './open-prober.ts';
import { openSight } from './open-sight.ts';
import { reportToOperators } from './operator-reports.ts';

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
  const spool = await openSpool(spoolDirectory);
  const { nodeName: node } = env;
  const nowMs = performance.now.bind(performance);
  const client = starting.use(new KubeClient(loadAccess, { userAgent: `ipledger-agent/${node}` }));
  const events = starting.use(openEvents(client, env, log));
  const nodeLedger = await openLedger({ client, dataDirectory, node, nowMs, log }, starting);
  const watches = starting.use(openWatches(client, env, nodeLedger, log));
  const { pods } = watches;
  const reports = reportToOperators({ events, metrics, pods, log });

  const composed = composeCluster({
    config,
    env,
    client,
    watches,
    nodeLedger,
    spool,
    sight,
    prober,
    probeSettings,
    reports,
    metrics,
    events,
    nowMs,
    log,
    failpoint,
  });
  watchGauges(metrics, { composed, nodeLedger, spool, events });
  await serve(composed, { config, env, log }, starting);
  releaseAtEnd(pods, composed, log, starting);
  const kept = keepRecords({ nodeLedger, composed, pods, sight, node, nowMs, log, ...reports }, starting);
  starting.use(startBackground({ composed, watches, kept, spool, log }));
  const everything = starting.move();
  return { readiness: composed.agent.readiness, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

async function openSpool(directory: string): Promise<Spool> {
  const spool = new Spool(directory);
  await spool.prepare();
  await spool.removeUnfinished(new Date());
  return spool;
}

function openEvents(client: KubeClient, { podName }: AgentEnv, log: Logger): EventSink {
  const onTrouble = (because: string | null, message: string) =>
    because === null
      ? log.info('Events are written again')
      : log.warn({ because, why: message }, 'Events are not written');
  return new EventSink(client, { reporter: 'agent', instance: podName, onTrouble });
}

function openWatches(client: KubeClient, env: AgentEnv, { revisions }: NodeLedger, log: Logger): NodeWatches {
  const onRestored = () => revisions.fell();
  const onReconnected = () => void revisions.compare(() => readRevision(client));
  const { nodeName: node, podNamespace: namespace } = env;
  return new NodeWatches(client, { node, namespace, onRestored, onReconnected }, log);
}

interface Watched {
  readonly composed: ComposedAgent;
  readonly nodeLedger: NodeLedger;
  readonly spool: Spool;
  readonly events: EventSink;
}

function watchGauges(metrics: AgentMetrics, { composed, nodeLedger, spool, events }: Watched): void {
  const { collector, waiters, autoPools } = composed;
  const { journal, index, answered } = nodeLedger;
  metrics.watch('journal-entries', () => journal.size);
  metrics.watch('index-records', () => index.size);
  metrics.watch('spool-entries', () => spool.count());
  metrics.watch('waiting-adds', () => waiters.waiting + autoPools.waiting);
  metrics.watch('lost-events', () => events.lost);
  metrics.watch('lost-addresses', () => answered.lost.length);
  metrics.watch('outliving-sandboxes', () => collector.outliving().length);
}

async function serve(
  { agent, stopWaiting }: ComposedAgent,
  { config, env, log }: Pick<ClusterAgentConfig, 'config' | 'env'> & { readonly log: Logger },
  starting: AsyncDisposableStack,
): Promise<void> {
  const { ipamUnixSocketPath: socket } = config;
  const server = buildServer(agent, log, { ...env, sticky: config });
  await listenOn(server, socket);
  starting.defer(() => stopServing(server, socket));
  starting.defer(stopWaiting);
  starting.defer(() => agent.readiness.stop());
  log.info({ socket, node: env.nodeName }, 'agent listening');
}

/** At the end of a pod: releases what a DEL has kept for its next sandbox, and looks for sandboxes that are left. */
function releaseAtEnd(
  pods: Pods,
  { agent, collector, releaser }: ComposedAgent,
  log: Logger,
  starting: AsyncDisposableStack,
): void {
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
}
