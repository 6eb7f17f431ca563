import { type HealthChecks, startHealthServer } from '#pkg/metrics/health-server.ts';
import type { MetricSet } from '#pkg/metrics/metric-set.ts';
import { startMetricsServer } from '#pkg/metrics/metrics-server.ts';
import type { AgentEnv } from './agent-env.ts';

type PortEnv = Pick<AgentEnv, 'healthHost' | 'healthPort' | 'metricPort' | 'isMetricEnabled' | 'isDebugMetricEnabled'>;

/** The ports for kubelet and Prometheus. `host` is where metrics listen, all addresses by default. Open them first: "not ready yet" is an answer too. */
export async function openAgentPorts(
  env: PortEnv,
  checks: HealthChecks,
  metrics: MetricSet,
  host?: string,
): Promise<AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const at = host === undefined ? {} : { host };
  const { healthHost, healthPort: port } = env;
  opening.use(await startHealthServer(checks, { host: healthHost, port, portSetting: 'SPIDERPOOL_HEALTH_PORT' }));
  if (env.isMetricEnabled) {
    if (env.isDebugMetricEnabled) metrics.addProcess();
    const portSetting = 'SPIDERPOOL_METRIC_HTTP_PORT';
    opening.use(await startMetricsServer(metrics, { ...at, port: env.metricPort, portSetting }));
  }
  return opening.move();
}
