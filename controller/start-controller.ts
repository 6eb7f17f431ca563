import type { Logger } from 'pino';
import { type AdmissionSettings, startAdmission } from '#controller/admission/start-admission.ts';
import type { ClaimScope } from '#controller/claims/claim-scope.ts';
import { collectorTask } from '#controller/collect/collector.ts';
import { SPIDERPOOL } from '#pkg/adopt/spiderpool.ts';
import { VITISTACK } from '#pkg/adopt/vitistack/vitistack.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { examineServer } from '#pkg/kube/client/examine-server.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { startHealthServer } from '#pkg/metrics/health-server.ts';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { startMetricsServer } from '#pkg/metrics/metrics-server.ts';
import { AdoptionGate } from './adoption.ts';
import { LeaderController } from './controller.ts';
import type { ControllerEnv } from './controller-env.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { upkeepTask } from './upkeep-task.ts';

export interface ControllerSetting {
  readonly config: ClusterConfig;
  readonly env: ControllerEnv;
  readonly loadAccess: LoadAccess;
  /** The address that metrics and webhook listen on; all addresses by default. */
  readonly host?: string;
  /** If false, pools are validated by their CRD schemas alone. */
  readonly servesWebhook: boolean;
  readonly claimScope: ClaimScope;
}

/** Starts one replica: metrics, health and admission servers, and leader election. Disposing releases the lease. */
export async function startController(setting: ControllerSetting, log: Logger): Promise<AsyncDisposable> {
  const { config, env, loadAccess, claimScope } = setting;
  const at = setting.host === undefined ? {} : { host: setting.host };
  await using starting = new AsyncDisposableStack();
  const now = () => new Date();
  const client = starting.use(new KubeClient(loadAccess, { userAgent: 'ipledger-controller' }));
  await refuseUnfitServer(client, log);
  const ledger = openKubernetesLedger(client);
  starting.defer(() => ledger.close());
  const onTrouble = (because: string | null, why: string) =>
    because === null ? log.info('Events are written again') : log.warn({ because, why }, 'Events are not written');
  const events = starting.use(new EventSink(client, { reporter: 'controller', instance: env.podName, onTrouble }));
  const set = new MetricSet();
  const metrics = new ControllerMetrics(set);
  if (env.isDebugMetricEnabled) set.addProcess();
  if (env.isMetricEnabled) {
    starting.use(
      await startMetricsServer(set, { ...at, port: env.metricsPort, portSetting: 'SPIDERPOOL_METRIC_HTTP_PORT' }),
    );
  }
  if (setting.servesWebhook) {
    const admission = await startAdmission({ client, ledger, log, now }, { ...at, ...admissionSettings(config, env) });
    starting.use(admission);
  }
  const gate = new AdoptionGate({
    client,
    podNamespace: env.podNamespace,
    podName: env.podName,
    log,
    now,
    source: SPIDERPOOL,
    advice: 'Spiderpool is or was here: run ipledgerctl import; agents wait',
  });
  const onGauges = metrics.sampleFrom.bind(metrics);
  const settings = { ...env.collect, keepsStatefulSets: config.enableStatefulSet };
  const collect = collectorTask({ client, settings, metrics, events, log, timing: SYSTEM_TIMING, now });
  const { leaseFreshMs, settleMs } = settings;
  const nowMs = () => SYSTEM_TIMING.nowMs();
  const vitistackGate = new AdoptionGate({
    client,
    podNamespace: env.podNamespace,
    podName: env.podName,
    log,
    now,
    source: VITISTACK,
    advice:
      'static-ip-operator is or was here: run ipledgerctl import --from vitistack; Vitistack is not served before',
  });
  const vitistack = { ...env.vitistack, gate: vitistackGate };
  const upkeep = upkeepTask({
    client,
    ledger,
    config,
    events,
    log,
    now,
    nowMs,
    settleMs,
    claimScope,
    vitistack,
    onGauges,
  });
  const tasks = [gate.behind(collect), gate.behind(upkeep)];
  const controller = starting.use(
    new LeaderController(env, { client, tasks, log, timing: SYSTEM_TIMING, now, leaseFreshMs }),
  );
  const checks = { startup: () => null, readiness: () => controller.readiness(), liveness: () => null };
  const health = { host: env.healthHost, port: env.healthPort, portSetting: 'SPIDERPOOL_HEALTH_PORT' };
  starting.use(await startHealthServer(checks, health));
  log.info(
    { health: env.healthPort, identity: env.podName, isDryRun: env.collect.isDryRun },
    'controller started, waiting for leadership',
  );
  return starting.move();
}

/** An API server that is away is not a reason to stop: the election waits for it. */
async function refuseUnfitServer(client: KubeClient, log: Logger): Promise<void> {
  const examined = await examineServer(client);
  if (!examined.ok) return log.warn({ why: examined.message }, 'the version of the API server cannot be read now');
  const { version, warnings, refusal } = examined.object;
  if (refusal !== null) throw new IpamError('bad-config', refusal);
  for (const warning of warnings) log.warn({ warning }, 'API server');
  log.info({ version }, 'API server');
}

function admissionSettings(config: ClusterConfig, env: ControllerEnv): AdmissionSettings {
  const { certFile, keyFile, clientCaFile, podNamespace: namespace, webhookPort: port } = env;
  if ((certFile === '') !== (keyFile === '')) {
    throw new IpamError(
      'bad-config',
      'SPIDERPOOL_WEBHOOK_TLS_CERT_FILE and SPIDERPOOL_WEBHOOK_TLS_KEY_FILE go together',
    );
  }
  const service = `ipledger-controller.${namespace}`;
  const names = [`${service}.svc`, `${service}.svc.cluster.local`];
  const tls =
    certFile === '' ? ({ from: 'self', namespace, names } as const) : ({ from: 'files', certFile, keyFile } as const);
  return { ...config, port, clientCaFile, tls };
}
