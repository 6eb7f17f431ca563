import { expect, test } from 'vitest';
import { readAgentEnv } from './agent-env.ts';

const NEEDED = {
  SPIDERPOOL_POD_NAMESPACE: 'ipledger',
  SPIDERPOOL_POD_NAME: 'agent-x',
  SPIDERPOOL_NODE_NAME: 'worker-1',
};

test('the required variables are enough, and the others get their defaults', () => {
  expect(readAgentEnv({ ...NEEDED, PATH: '/bin', SPIDERPOOL_LOG_LEVEL: '' })).toEqual({
    env: {
      logLevel: 'info',
      isMetricEnabled: true,
      isDebugMetricEnabled: false,
      podNamespace: 'ipledger',
      podName: 'agent-x',
      nodeName: 'worker-1',
      healthHost: '127.0.0.1',
      healthPort: 5710,
      metricPort: 5711,
      releasesConflictIPs: true,
      multusClusterNetwork: '',
      multusNamespace: 'ipledger',
    },
    warnings: [],
  });
});

test('both prefixes are read and IPLEDGER_ wins; the Multus variables have no prefix', () => {
  const { env } = readAgentEnv({
    ...NEEDED,
    SPIDERPOOL_HEALTH_PORT: '1',
    IPLEDGER_HEALTH_PORT: '2',
    IPLEDGER_HEALTH_HOST: '::',
    IPLEDGER_ENABLED_METRIC: 'false',
    MULTUS_CLUSTER_NETWORK: 'kube-system/macvlan',
    IPLEDGER_MULTUS_NAMESPACE: 'spiderpool',
    SPIDERPOOL_LOG_LEVEL: 'PANIC',
  });
  expect(env).toMatchObject({
    healthHost: '::',
    healthPort: 2,
    isMetricEnabled: false,
    multusClusterNetwork: 'kube-system/macvlan',
    multusNamespace: 'spiderpool',
    logLevel: 'error',
  });
});

test.each([
  {
    name: 'no node',
    env: { SPIDERPOOL_NODE_NAME: '' },
    says: 'IPLEDGER_NODE_NAME or SPIDERPOOL_NODE_NAME must be set to the name of the node',
  },
  {
    name: 'a port that is none',
    env: { SPIDERPOOL_HEALTH_HOST: 'localhost' },
    says: 'SPIDERPOOL_HEALTH_HOST: expected an IP address, found "localhost"',
  },
  {
    env: { SPIDERPOOL_HEALTH_PORT: '70000' },
    says: 'SPIDERPOOL_HEALTH_PORT: expected a whole number from 1 to 65535, found "70000"',
  },
  {
    name: 'a port in words',
    env: { IPLEDGER_METRIC_HTTP_PORT: '0x10' },
    says: 'IPLEDGER_METRIC_HTTP_PORT: expected a whole number',
  },
  {
    name: 'a switch',
    env: { SPIDERPOOL_ENABLED_METRIC: 'yes' },
    says: 'SPIDERPOOL_ENABLED_METRIC: expected true or false, found "yes"',
  },
  {
    name: 'a level',
    env: { SPIDERPOOL_LOG_LEVEL: 'loud' },
    says: 'SPIDERPOOL_LOG_LEVEL: expected debug, info, warn, error, found "loud"',
  },
  { name: 'too long', env: { SPIDERPOOL_POD_NAME: 'x'.repeat(5_000) }, says: 'SPIDERPOOL_POD_NAME is longer than' },
])('a bad variable refuses to start: $name', ({ env, says }) => {
  expect(() => readAgentEnv({ ...NEEDED, ...env })).toThrow(
    expect.objectContaining({ reason: 'bad-config', message: expect.stringContaining(says) as string }),
  );
});

test('variables without effect are reported; service links and variables of the plugin are not', () => {
  const { warnings } = readAgentEnv({
    ...NEEDED,
    SPIDERPOOL_GOPS_LISTEN_PORT: '5712',
    SPIDERPOOL_ENABLED_RDMA_METRIC: 'false',
    SPIDERPOOL_HEALT_PORT: '1',
    SPIDERPOOL_CONTROLLER_SERVICE_HOST: '10.96.0.9',
    SPIDERPOOL_CONTROLLER_PORT_5722_TCP_ADDR: '10.96.0.9',
    SPIDERPOOL_CONTROLLER_PORT: 'tcp://10.96.0.9:5722',
    IPLEDGER_SOCKET: '/run/x.sock',
  });
  expect(warnings).toEqual([
    'SPIDERPOOL_GOPS_LISTEN_PORT has no effect on ipledger',
    'unknown variable SPIDERPOOL_HEALT_PORT is ignored; did you mean SPIDERPOOL_HEALTH_PORT?',
  ]);
});
