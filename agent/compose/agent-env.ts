import { type Env, EnvReader } from '#pkg/config/env-reader.ts';
import { readHeapMb } from '#pkg/config/heap-setting.ts';
import { findVariableWarnings } from '#pkg/config/variable-warnings.ts';
import { LOG_LEVELS, type LogLevel } from '#pkg/log/logger.ts';
import { HEALTH_HOST } from '#pkg/metrics/health-server.ts';

/** The settings that an agent in a cluster takes from its environment. */
export interface AgentEnv {
  readonly logLevel: LogLevel;
  readonly isMetricEnabled: boolean;
  readonly isDebugMetricEnabled: boolean;
  readonly podNamespace: string;
  readonly podName: string;
  readonly nodeName: string;
  readonly healthHost: string;
  readonly healthPort: number;
  readonly metricPort: number;
  readonly releasesConflictIPs: boolean;
  /** `namespace/name` of the default Multus network; empty when there is none. */
  readonly multusClusterNetwork: string;
  /** The namespace of a network that is named without one. */
  readonly multusNamespace: string;
}

/** In the order of the documentation: each name and its default. */
export const AGENT_ENV: Readonly<Record<string, string>> = {
  LOG_LEVEL: 'info',
  ENABLED_METRIC: 'true',
  ENABLED_DEBUG_METRIC: 'false',
  POD_NAMESPACE: 'required',
  POD_NAME: 'required',
  NODE_NAME: 'required',
  HEALTH_HOST: '127.0.0.1',
  HEALTH_PORT: '5710',
  METRIC_HTTP_PORT: '5711',
  ENABLED_RELEASE_CONFLICT_IPS: 'true',
  MULTUS_CLUSTER_NETWORK: 'none',
  MULTUS_NAMESPACE: 'POD_NAMESPACE',
  HEAP_MB: 'by the memory limit',
};

/** Variables of Spiderpool that have no meaning here: agents wait by watch, pools have no such limit, Node has its own debugger. */
const UNUSED = [
  'ENABLED_RDMA_METRIC',
  'GOPS_LISTEN_PORT',
  'PYROSCOPE_PUSH_SERVER_ADDRESS',
  'IPPOOL_MAX_ALLOCATED_IPS',
  'WAIT_SUBNET_POOL_TIME_IN_SECOND',
  'WAIT_SUBNET_POOL_MAX_RETRIES',
  'UPDATE_CR_MAX_RETRIES',
  'WORKLOADENDPOINT_MAX_HISTORY_RECORDS',
];
const ABOVE_ERROR = ['fatal', 'panic'];

/** Throws `bad-config` naming the variable, its value and what is allowed. */
export function readAgentEnv(env: Env): { readonly env: AgentEnv; readonly warnings: readonly string[] } {
  const reader = new EnvReader(env);
  const podNamespace = reader.required('POD_NAMESPACE', "the agent's own namespace");
  const read: AgentEnv = {
    logLevel: logLevelIn(reader),
    isMetricEnabled: reader.flag('ENABLED_METRIC', true),
    isDebugMetricEnabled: reader.flag('ENABLED_DEBUG_METRIC', false),
    podNamespace,
    podName: reader.required('POD_NAME', "the agent's own pod"),
    nodeName: reader.required('NODE_NAME', 'the name of the node'),
    healthHost: reader.address('HEALTH_HOST', HEALTH_HOST),
    healthPort: reader.port('HEALTH_PORT', 5710),
    metricPort: reader.port('METRIC_HTTP_PORT', 5711),
    releasesConflictIPs: reader.flag('ENABLED_RELEASE_CONFLICT_IPS', true),
    multusClusterNetwork: reader.text('MULTUS_CLUSTER_NETWORK', ''),
    multusNamespace: reader.text('MULTUS_NAMESPACE', podNamespace),
  };
  readHeapMb(reader);
  return { env: read, warnings: findVariableWarnings(reader, UNUSED) };
}

/** Read before the logger exists, so it cannot log a bad value. */
export function readLogLevel(env: Env): LogLevel {
  return logLevelIn(new EnvReader(env));
}

function logLevelIn(reader: EnvReader): LogLevel {
  const names = [...LOG_LEVELS, ...ABOVE_ERROR];
  const spellings = [...names, ...names.map((name) => name.toUpperCase())];
  const toLevel = (text: string): LogLevel => LOG_LEVELS.find((level) => level === text.toLowerCase()) ?? 'error';
  return reader.choice('LOG_LEVEL', spellings, LOG_LEVELS.join(', '), toLevel) ?? 'info';
}
