import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { CONTROLLER_METRICS } from '#controller/project/metric-names.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { runProgram } from '#test/support/run-program.ts';
import { type ControllerProgram, startControllerProgram } from './controller-program.ts';
import {
  type ControllerStage,
  held,
  LOST_NODE,
  leakRecords,
  PATIENCE,
  startControllerStage,
  untilNames,
} from './controller-stage.ts';

let stage: ControllerStage;

beforeAll(async () => {
  stage = await startControllerStage();
  return () => stage[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await stage.cluster.clear();
  await stage.setNode('worker-1', true);
});

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ipledger/leases/ipledger-controller';
const leaseHolder = async () => {
  const lease = stage.admin<{ spec: { holderIdentity?: string } }>('GET', LEASE);
  return (await lease.catch(() => null))?.spec.holderIdentity;
};
const said = ({ lines }: ControllerProgram, msg: string) => lines.filter((line) => line['msg'] === msg);

test('--help says what it is for', async () => {
  const program = await builtPath('ipledger-controller');
  const { code, stdout } = await runProgram(program, ['--help'], { env: launchEnvironment() });
  expect(code).toBe(0);
  expect(stdout).toMatch(/brings leaked\s+addresses back/);
  expect(stdout).toContain('--dry-run');
});

test.each([
  {
    name: 'without its name',
    env: {},
    says: "IPLEDGER_POD_NAME or SPIDERPOOL_POD_NAME must be set to the controller's own pod",
  },
  {
    name: 'with a value that is none',
    env: { SPIDERPOOL_POD_NAME: 'a', SPIDERPOOL_POD_NAMESPACE: 'b', SPIDERPOOL_GC_IP_ENABLED: 'perhaps' },
    says: 'SPIDERPOOL_GC_IP_ENABLED: expected true or false, found "perhaps"',
  },
])('$name it ends with a sentence', async ({ env, says }) => {
  const program = await builtPath('ipledger-controller');
  const { code, stdout } = await runProgram(program, [], { env: { ...launchEnvironment(), ...env } });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ level: 60, msg: says });
});

test('it names a variable that nobody knows, leads, is ready, collects, and at SIGTERM gives the lease back at once', async () => {
  await stage.record('10.0.0.1', { name: 'dead', uid: 'dead', node: LOST_NODE });
  await using first = await startControllerProgram(stage, 'first', { IPLEDGER_GC_IP_ENABLE: 'false' });
  await vi.waitUntil(async () => (await leaseHolder()) === 'first', PATIENCE);
  await using second = await startControllerProgram(stage, 'second');
  for (const program of [first, second]) {
    for (const path of ['startup', 'readiness', 'liveness'] as const) {
      await vi.waitUntil(async () => (await program.health(path)) === 200, PATIENCE);
    }
  }
  await untilNames(stage, []);
  await vi.waitUntil(() => said(first, 'record freed').length === 1, PATIENCE);
  expect(said(first, 'record freed')).toMatchObject([{ record: '10.0.0.1', cause: 'node-gone', holder: 'dead' }]);
  expect(said(first, 'configuration')).toMatchObject([
    { warning: expect.stringContaining('IPLEDGER_GC_IP_ENABLE is ignored; did you mean IPLEDGER_GC_IP_ENABLED?') },
  ]);
  expect(await first.end('SIGTERM')).toBe(0);
  expect(said(first, 'lost leadership')).toHaveLength(1);
  await vi.waitUntil(async () => (await leaseHolder()) === 'second', PATIENCE);
  expect(said(second, 'record freed')).toEqual([]);
  expect(await second.end('SIGTERM')).toBe(0);
  expect(await leaseHolder()).toBe('');
});

test('killed in the middle of a sweep: the next one leads after the lease, and finishes it', async () => {
  const living = await stage.pod('living', { address: '10.1.0.1' });
  await stage.record('10.1.0.1', held(living));
  await leakRecords(stage, 400);
  const env = { SPIDERPOOL_GC_IP_WORKER_NUM: '1' };
  await using first = await startControllerProgram(stage, 'first', env);
  await vi.waitUntil(async () => (await leaseHolder()) === 'first', PATIENCE);
  await using second = await startControllerProgram(stage, 'second', env);
  await vi.waitUntil(() => said(first, 'record freed').length > 5, { ...PATIENCE, interval: 2 });
  await first.end('SIGKILL');
  expect((await stage.names()).length).toBeGreaterThan(1);
  await untilNames(stage, ['10.1.0.1']);
  expect(said(second, 'record freed').length).toBeGreaterThan(0);
});

test('the leader marks a fresh cluster as adopted, projects, and shows its metrics', async () => {
  const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
  const body = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool', metadata: { name: 'shown' } };
  await stage.admin('POST', POOLS, { ...body, spec: { subnet: '10.77.0.0/24', ips: ['10.77.0.10-10.77.0.19'] } });
  await using leader = await startControllerProgram(stage, 'shows');
  const pool = () => stage.admin<{ status?: { totalIPCount?: number }; metadata: object }>('GET', `${POOLS}/shown`);
  await vi.waitUntil(async () => (await pool()).status?.totalIPCount === 10, PATIENCE);
  await vi.waitUntil(async () => JSON.stringify((await pool()).metadata).includes('finalizers'), PATIENCE);
  await stage.admin('GET', '/api/v1/namespaces/ipledger/configmaps/ipledger-adopted');
  const text = await leader.metrics();
  expect(text).toContain('spiderpool_debug_ippool_available_ip_counts{SpiderIPPool="shown"} 10');
  const shown = new Set(text.matchAll(/^# TYPE (\S+)/gm).map(([, name]) => name));
  expect(Object.keys(CONTROLLER_METRICS).filter((name) => !shown.has(name))).toEqual([]);
});
