import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { LoadAccess } from '#pkg/kube/access.ts';
import { KubeClient } from '#pkg/kube/client.ts';
import { EventSink } from '#pkg/kube/event-sink.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes-ledger.ts';
import type { AgentEnv } from '../agent-env.ts';
import type { AgentMetrics } from '../agent-metrics.ts';
import { planOptionsOf, probeSettingsOf } from '../agent-settings.ts';
import { composeAgent } from '../compose-agent.ts';
import { isOfNode } from '../is-own.ts';
import { Journal } from '../journal/journal.ts';
import { journalled } from '../journal/journalled-ledger.ts';
import { NodeIndex } from '../node-index.ts';
import { openProber } from '../open-prober.ts';
import type { Readiness } from '../readiness.ts';
import { Spool } from '../release/spool.ts';
import { buildServer } from '../server.ts';
import type { ReachStep } from '../steps.ts';
import { stopServing } from '../stop-serving.ts';
import { listenOn, takeHost } from '../take-host.ts';
import { conflictEvents, podBehind } from '../told-events.ts';
import { startBackground } from './background.ts';
import { ClusterEyes } from './cluster-eyes.ts';
import { judgeSandbox } from './judge-sandbox.ts';
import { podAfterlife } from './pod-afterlife.ts';
import { PodHolders } from './pod-holders.ts';
import { refreshIndex } from './refresh-index.ts';
import { refuseReleaseBy } from './refuse-release.ts';

const UNFINISHED_AFTER_MS = 3_600_000;

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

/** Everything one agent needs on a node of a cluster. Returns once it listens; it is ready when `readiness` says so. */
export async function startClusterAgent(
  { config, env, dataDirectory, spoolDirectory, loadAccess, metrics }: ClusterAgentConfig,
  log: Logger,
  reach: ReachStep,
): Promise<ClusterAgent> {
  await using starting = new AsyncDisposableStack();
  const socketPath = config.ipamUnixSocketPath;
  await takeHost({ dataDirectory, socketPath }, starting);
  const probeSettings = probeSettingsOf(config);
  const prober = openProber(probeSettings, starting, log);
  const spool = new Spool(spoolDirectory);
  await spool.prepare();
  await spool.removeUnfinished(new Date(Date.now() - UNFINISHED_AFTER_MS));
  const journal = await openJournal(dataDirectory, log);

  const { nodeName: node, podNamespace: namespace } = env;
  const client = starting.use(new KubeClient(loadAccess, { userAgent: `ipledger-agent/${node}` }));
  const events = starting.use(
    new EventSink(client, { reporter: 'agent', instance: env.podName, onTrouble: reportEvents(log) }),
  );
  const raw = openKubernetesLedger(client, { onUnreadable: reportUnreadable(log) });
  starting.defer(() => raw.close());
  const ledger = journalled(raw, journal, () => new Date());
  const index = new NodeIndex(() => performance.now());
  const eyes = starting.use(new ClusterEyes(client, { node, namespace }, log));
  const { multusClusterNetwork, multusNamespace } = env;
  const holders = new PodHolders(eyes, {
    ...config,
    node,
    multusNamespace,
    multusClusterNetwork: multusClusterNetwork === '' ? null : multusClusterNetwork,
  });
  const composed = composeAgent({
    ledger,
    index,
    catalog: eyes.pools,
    holders,
    planOptions: planOptionsOf(config, env),
    spool,
    journal,
    judgeAfterlife: podAfterlife(eyes.pods, config),
    judgeLeftover: judgeSandbox(eyes.pods),
    isStillAlive: async ({ holder, podName }) => {
      const pod = await eyes.pods.read({ namespace: holder.namespace, name: podName, uid: holder.uid });
      return pod?.uid === holder.uid && pod.isAlive;
    },
    node,
    isOwn: isOfNode(node),
    refuseRelease: refuseReleaseBy(node),
    exhaustedWaitMs: config.exhaustedWaitSeconds * 1000,
    log,
    reach,
    prober,
    probeSettings,
    metrics,
    events,
    onConflict: ({ spec }, mac) => {
      const found = { address: spec.address, mac };
      for (const event of conflictEvents(podBehind(spec.holder, eyes.pods), spec.pool, found)) events.tell(event);
    },
  });
  const { agent, releaser, waiters } = composed;
  metrics.watch('journal-entries', () => journal.size);
  metrics.watch('index-records', () => index.size);
  metrics.watch('spool-entries', () => spool.count());
  metrics.watch('waiting-adds', () => waiters.waiting);
  metrics.watch('lost-events', () => events.lost);
  const server = buildServer(agent, log, { ...env, sticky: config });
  await listenOn(server, socketPath);
  starting.defer(() => stopServing(server, socketPath));
  starting.defer(() => waiters.stop());
  starting.defer(() => agent.readiness.giveUp());
  log.info({ socket: socketPath, node }, 'agent listens');

  const ended = (uid: string) => {
    releaser.podEnded(uid).then(
      (released) =>
        released.length > 0 && log.info({ uid, released: released.length }, 'pod ended, kept addresses released'),
      (thrown: unknown) => log.error({ uid, why: toIpamError(thrown).message }, 'kept addresses not released'),
    );
  };
  starting.use(eyes.pods.onEnd(ended));
  const refresh = () =>
    refreshIndex({ ledger, index, releaser, pods: eyes.pods, node, nowMs: () => performance.now(), log });
  starting.use(startBackground({ composed, eyes, refresh, spool, log }));
  const everything = starting.move();
  return { readiness: agent.readiness, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

async function openJournal(dataDirectory: string, log: Logger): Promise<Journal> {
  return await Journal.open(join(dataDirectory, 'journal'), (file, why) =>
    log.error({ file, why }, 'journal entry cannot be read and is left alone'),
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
