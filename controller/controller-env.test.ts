import { expect, test } from 'vitest';
import { readControllerEnv } from './controller-env.ts';

const REQUIRED = { SPIDERPOOL_POD_NAME: 'me', SPIDERPOOL_POD_NAMESPACE: 'here' };

test('without anything but a name: the defaults', () => {
  const { env, warnings } = readControllerEnv(REQUIRED);
  expect(warnings).toEqual([]);
  expect(env).toMatchObject({
    podName: 'me',
    podNamespace: 'here',
    healthHost: '127.0.0.1',
    healthPort: 5720,
    metricsPort: 5721,
  });
  expect(env.pace).toEqual({ leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 });
});

test('durations are seconds, and ours wins over Spiderpool’s', () => {
  const {
    env: { collect },
  } = readControllerEnv({
    ...REQUIRED,
    SPIDERPOOL_GC_DEFAULT_INTERVAL_DURATION: '900',
    SPIDERPOOL_GC_ADDITIONAL_GRACE_DELAY: '5',
    IPLEDGER_GC_ADDITIONAL_GRACE_DELAY: '7',
    SPIDERPOOL_GC_IP_ENABLED: 'False',
  });
  expect(collect).toMatchObject({ sweepEveryMs: 900_000, additionalDelayMs: 7_000, isEnabled: false });
});

test.each([
  { name: 'no name', env: { SPIDERPOOL_POD_NAMESPACE: 'here' }, says: 'SPIDERPOOL_POD_NAME' },
  { name: 'an empty name', env: { ...REQUIRED, SPIDERPOOL_POD_NAME: '' }, says: 'SPIDERPOOL_POD_NAME' },
  {
    name: 'a switch that is none',
    env: { ...REQUIRED, IPLEDGER_GC_DRY_RUN: 'yes' },
    says: 'IPLEDGER_GC_DRY_RUN: expected true or false, found "yes"',
  },
  {
    name: 'a number that is none',
    env: { ...REQUIRED, SPIDERPOOL_HEALTH_PORT: '0x50' },
    says: 'SPIDERPOOL_HEALTH_PORT: expected a whole number from 1 to 65535, found "0x50"',
  },
  {
    name: 'a number out of range',
    env: { ...REQUIRED, SPIDERPOOL_GC_IP_WORKER_NUM: '100000' },
    says: 'from 1 to 64',
  },
  {
    name: 'a level that is none',
    env: { ...REQUIRED, SPIDERPOOL_LOG_LEVEL: 'loud' },
    says: 'found "loud"',
  },
  {
    name: 'a lease that cannot be kept',
    env: { ...REQUIRED, SPIDERPOOL_LEADER_RENEW_DEADLINE: '20' },
    says: 'less than SPIDERPOOL_LEADER_DURATION',
  },
])('$name is refused by name', ({ env, says }) => {
  expect(() => readControllerEnv(env)).toThrow(says);
});

test('Spiderpool’s switch for Terminating pods is read', () => {
  const { env } = readControllerEnv({ ...REQUIRED, SPIDERPOOL_GC_TERMINATING_POD_IP_ENABLED: 'false' });
  expect(env.collect.collectsTerminating).toBe(false);
});

test('variables without a meaning, or that nobody knows, are named', () => {
  const { warnings } = readControllerEnv({
    ...REQUIRED,
    SPIDERPOOL_GC_IP_ENABLE: 'false',
    SPIDERPOOL_GC_CHANNEL_BUFFER: '5000',
    IPLEDGER_CONTROLLER_METRICS_PORT: 'tcp://10.0.0.1:5721',
    PATH: '/bin',
  });
  expect(warnings).toEqual([
    'SPIDERPOOL_GC_CHANNEL_BUFFER has no effect on ipledger',
    'unknown variable SPIDERPOOL_GC_IP_ENABLE is ignored; did you mean SPIDERPOOL_GC_IP_ENABLED?',
  ]);
});
