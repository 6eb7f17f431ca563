import { type HealthChecks, startHealthServer } from '#pkg/metrics/health-server.ts';
import type { MetricSet } from '#pkg/metrics/metric-set.ts';
import { startMetricsServer } from '#pkg/metrics/metrics-server.ts';
import type { AgentEnv } from './agent-env.ts';

type PortEnv = Pick<AgentEnv, 'healthPort' | 'metricPort' | 'isMetricEnabled' | 'isDebugMetricEnabled'>;

/** The ports for kubelet and Prometheus. Open them first: "not ready yet" is an answer too. */
export async function openAgentPorts(
  env: PortEnv,
  checks: HealthChecks,
  metrics: MetricSet,
  host?: string,
): Promise<AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const at = host === undefined ? {} : { host };
  opening.use(await startHealthServer(checks, { ...at, port: env.healthPort, portSetting: 'SPIDERPOOL_HEALTH_PORT' }));
  if (env.isMetricEnabled) {
    if (env.isDebugMetricEnabled) metrics.addProcess();
    const portSetting = 'SPIDERPOOL_METRIC_HTTP_PORT';
    opening.use(await startMetricsServer(metrics, { ...at, port: env.metricPort, portSetting }));
  }
  return opening.move();
}
