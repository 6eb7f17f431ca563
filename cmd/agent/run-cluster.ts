import type { Logger } from 'pino';
import { readAgentEnv } from '#agent/compose/agent-env.ts';
import { openAgentPorts } from '#agent/compose/agent-ports.ts';
import { startClusterAgent } from '#agent/compose/cluster-agent.ts';
import { NO_METRICS } from '#agent/report/agent-metrics.ts';
import { exportAgentMetrics } from '#agent/report/exported-metrics.ts';
import { agentHealth } from '#agent/serve/agent-health.ts';
import { readConfigFile } from '#pkg/config/read-config-file.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';

export interface ClusterFlags {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly socket?: string;
  readonly data: string;
  readonly spool: string;
}

/** The agent of a cluster with its health and metrics ports. */
export async function runInCluster(
  flags: ClusterFlags,
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const { env, warnings: envWarnings } = readAgentEnv(environment);
  const { config: written, warnings } = await readConfigFile(flags.config);
  for (const warning of [...envWarnings, ...warnings]) log.warn({ warning }, 'configuration');
  const config = flags.socket === undefined ? written : { ...written, ipamUnixSocketPath: flags.socket };

  let waitsFor: () => string | null = () => 'it has just started';
  let socketPath: string | null = null;
  const health = agentHealth({ whyNotReady: () => waitsFor(), socketPath: () => socketPath });
  const set = new MetricSet();
  const metrics = env.isMetricEnabled ? exportAgentMetrics(set) : NO_METRICS;
  // Before the port is opened: an agent that never gets further must say so.
  metrics.watch('ready', () => (waitsFor() === null ? 1 : 0));
  starting.use(await openAgentPorts(env, health, set));
  const { kubeconfig: file } = flags;
  const loadAccess = accessFrom(file === undefined ? { from: 'cluster' } : { from: 'kubeconfig', file });
  const places = { dataDirectory: flags.data, spoolDirectory: flags.spool };
  const agent = starting.use(await startClusterAgent({ config, env, ...places, loadAccess, metrics }, log));
  waitsFor = () => agent.readiness.waitsFor;
  socketPath = config.ipamUnixSocketPath;
  return starting.move();
}
