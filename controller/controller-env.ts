import { COLLECT_DEFAULTS, type CollectSettings } from '#controller/judge/collect-settings.ts';
import type { ProviderSettings } from '#controller/provider-plan/judge-configuration.ts';
import { type Env, EnvReader } from '#pkg/config/env-reader.ts';
import { readHeapMb } from '#pkg/config/heap-setting.ts';
import { findVariableWarnings } from '#pkg/config/variable-warnings.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { ElectionPace } from '#pkg/kube/leader/election.ts';
import { LOG_LEVELS, type LogLevel } from '#pkg/log/logger.ts';
import { HEALTH_HOST } from '#pkg/metrics/health-server.ts';
import type { RangeRules } from '#pkg/vitistack/read-network-namespace.ts';

export interface ControllerEnv {
  readonly logLevel: LogLevel;
  readonly podName: string;
  readonly podNamespace: string;
  readonly healthHost: string;
  readonly healthPort: number;
  readonly isMetricEnabled: boolean;
  readonly isDebugMetricEnabled: boolean;
  readonly metricsPort: number;
  readonly webhookPort: number;
  /** Given certificate of the webhook; empty: it makes its own. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  readonly leaseName: string;
  readonly pace: ElectionPace;
  readonly collect: CollectSettings;
  readonly vitistack: { readonly rangeRules: RangeRules; readonly providerSettings: ProviderSettings };
  /** Null: by the memory limit. */
  readonly heapMb: number | null;
}

const DAY = 86_400;

/** Of Spiderpool's controller, without a meaning here: nothing is traced, resynced or kept in bounded queues. */
const UNUSED = [
  'METRIC_RENEW_PERIOD',
  'GOPS_LISTEN_PORT',
  'PYROSCOPE_PUSH_SERVER_ADDRESS',
  'IPPOOL_MAX_ALLOCATED_IPS',
  'SUBNET_INFORMER_RESYNC_PERIOD',
  'SUBNET_INFORMER_WORKERS',
  'SUBNET_INFORMER_MAX_WORKQUEUE_LENGTH',
  'SUBNET_APPLICATION_CONTROLLER_WORKERS',
  'IPPOOL_INFORMER_RESYNC_PERIOD',
  'IPPOOL_INFORMER_WORKERS',
  'AUTO_IPPOOL_HANDLER_MAX_WORKQUEUE_LENGTH',
  'WORKQUEUE_MAX_RETRIES',
  'WORKQUEUE_RETRY_DELAY_DURATION',
  'COORDINATOR_ENABLED',
  'MULTUS_CONFIG_ENABLED',
  'CONTROLLER_DEPLOYMENT_NAME',
  'LEADER_RETRY_GAP',
  'GC_CHANNEL_BUFFER',
  'GC_MAX_PODENTRY_DB_CAP',
  'GC_TRACE_POD_GAP_DURATION',
  'GC_SIGNAL_TIMEOUT_DURATION',
  'GC_HTTP_REQUEST_TIME_GAP',
  'GC_PODENTRY_MAX_RETRIES',
];

/** Throws `bad-config` for a value that makes no sense, naming the variable. docs/collection.md lists them all. */
export function readControllerEnv(env: Env): { readonly env: ControllerEnv; readonly warnings: readonly string[] } {
  const reader = new EnvReader(env);
  const read = readFrom(reader);
  return { env: read, warnings: findVariableWarnings(reader, UNUSED) };
}

export function readFrom(read: EnvReader): ControllerEnv {
  return {
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, LOG_LEVELS.join(', '), (text) => text as LogLevel) ?? 'info',
    podName: read.required('POD_NAME', "the controller's own pod"),
    podNamespace: read.required('POD_NAMESPACE', "the controller's own namespace"),
    healthHost: read.address('HEALTH_HOST', HEALTH_HOST),
    healthPort: read.port('HEALTH_PORT', 5720),
    isMetricEnabled: read.flag('ENABLED_METRIC', true),
    isDebugMetricEnabled: read.flag('ENABLED_DEBUG_METRIC', false),
    metricsPort: read.port('METRIC_HTTP_PORT', 5721),
    webhookPort: read.port('WEBHOOK_PORT', 5722),
    certFile: read.text('WEBHOOK_TLS_CERT_FILE', ''),
    keyFile: read.text('WEBHOOK_TLS_KEY_FILE', ''),
    clientCaFile: read.text('WEBHOOK_CLIENT_CA_FILE', ''),
    leaseName: read.text('LEADER_LEASE_NAME', 'ipledger-controller'),
    pace: readPace(read),
    collect: readCollect(read),
    vitistack: {
      rangeRules: { floor: read.whole('VITISTACK_RANGE_FLOOR', 2, 1, 1_000) },
      providerSettings: { isStrict: read.flag('STATIC_IP_STRICT_DEFAULTS', false) },
    },
    heapMb: readHeapMb(read),
  };
}

function readPace(read: EnvReader): ElectionPace {
  const leaseMs = read.whole('LEADER_DURATION', 15, 3, 600) * 1_000;
  const renewDeadlineMs = read.whole('LEADER_RENEW_DEADLINE', 10, 2, 600) * 1_000;
  const retryMs = read.whole('LEADER_RETRY_PERIOD', 2, 1, 600) * 1_000;
  if (retryMs < renewDeadlineMs && renewDeadlineMs < leaseMs) return { leaseMs, renewDeadlineMs, retryMs };
  throw new IpamError(
    'bad-config',
    'SPIDERPOOL_LEADER_RETRY_PERIOD must be less than SPIDERPOOL_LEADER_RENEW_DEADLINE, and that less than SPIDERPOOL_LEADER_DURATION',
  );
}

function readCollect(read: EnvReader): CollectSettings {
  const initial = COLLECT_DEFAULTS;
  const seconds = (name: string, ms: number, lowest: number, highest: number) =>
    read.whole(name, ms / 1_000, lowest, highest) * 1_000;
  return {
    ...initial,
    isEnabled: read.flag('GC_IP_ENABLED', initial.isEnabled),
    isDryRun: read.flag('GC_DRY_RUN', initial.isDryRun),
    collectsTerminating: read.flag('GC_TERMINATING_POD_IP_ENABLED', initial.collectsTerminating),
    collectsOnReadyNodes: read.flag('GC_STATELESS_TERMINATING_POD_ON_READY_NODE_ENABLED', initial.collectsOnReadyNodes),
    collectsOnNotReadyNodes: read.flag(
      'GC_STATELESS_TERMINATING_POD_ON_NOT_READY_NODE_ENABLED',
      initial.collectsOnNotReadyNodes,
    ),
    suspectsRunningWithoutAddress: read.flag(
      'GC_ENABLE_STATELESS_RUNNING_POD_ON_EMPTY_POD_STATUS_IPS',
      initial.suspectsRunningWithoutAddress,
    ),
    repairsMissingRecords: read.flag('GC_REPAIR_MISSING_RECORDS_ENABLED', initial.repairsMissingRecords),
    sweepEveryMs: seconds('GC_DEFAULT_INTERVAL_DURATION', initial.sweepEveryMs, 10, DAY),
    additionalDelayMs: seconds('GC_ADDITIONAL_GRACE_DELAY', initial.additionalDelayMs, 0, DAY),
    settleMs: seconds('GC_SETTLE_DURATION', initial.settleMs, 1, 3_600),
    nodeGoneMs: seconds('GC_NODE_GONE_DURATION', initial.nodeGoneMs, 1, DAY),
    agentAwayMs: seconds('GC_AGENT_AWAY_DURATION', initial.agentAwayMs, 1, DAY),
    leaseFreshMs: seconds('GC_NODE_LEASE_FRESH_DURATION', initial.leaseFreshMs, 1, 600),
    notTakenMs: seconds('GC_RETAINED_NOT_TAKEN_DURATION', initial.notTakenMs, 1, DAY),
    beyondBoundsMs: seconds('GC_RETAINED_BEYOND_BOUNDS_DURATION', initial.beyondBoundsMs, 1, DAY),
    retainedPerNamespace: read.whole('GC_RETAINED_PER_NAMESPACE', initial.retainedPerNamespace, 1, 10_000_000),
    longestRestMs: seconds('GC_LONGEST_REST_DURATION', initial.longestRestMs, 1, 30 * DAY),
    workers: read.whole('GC_IP_WORKER_NUM', initial.workers, 1, 64),
  };
}
