import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Holder } from '#pkg/record/ip-record.ts';
import { toRetained } from '#pkg/record/released-spec.ts';
import {
  type ControllerStage,
  expectCollected,
  PATIENCE,
  QUICK,
  runController,
  startControllerStage,
  untilNames,
} from './controller-stage.ts';

/** How much a tenant can keep without a running pod. docs/security.md names these tests. */
const SETS = '/apis/apps/v1/namespaces/prod/statefulsets';
const VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'v-1' };
const BOUNDS = { retainedPerNamespace: 3, beyondBoundsMs: 4_000 };

let stage: ControllerStage;

beforeAll(async () => {
  stage = await startControllerStage();
  return () => stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stage.cluster.clear();
  await stage.admin('DELETE', SETS, { propagationPolicy: 'Background' });
  await stage.setNode('worker-1', true);
});

async function makeSet(name: string, replicas: number) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const spec = { replicas, serviceName: name, selector: { matchLabels: labels }, template };
  const made = await stage.admin<{ metadata: { uid: string } }>('POST', SETS, { metadata: { name }, spec });
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid: made.metadata.uid };
}

/** As the DEL of its pod leaves it. */
async function retained(address: string, holder: Partial<Holder>): Promise<string> {
  const seen = await stage.record(address, { uid: 'gone', sticky: true, ...holder });
  expect((await stage.ledger.amend(seen, toRetained(seen.spec))).done).toBe(true);
  return address;
}

const meanwhile = () => wait(BOUNDS.beyondBoundsMs + QUICK.settleMs + 2 * QUICK.sweepEveryMs);

test('a StatefulSet with a million replicas and bare pods of its name: a namespace keeps no more than its bound', async () => {
  const owner = await makeSet('burn', 1_000_000);
  const names: string[] = [];
  for (let at = 0; at < 8; at += 1) names.push(await retained(`10.3.0.${at}`, { name: `burn-${7_000 + at}`, owner }));
  await using running = runController(stage, { settings: BOUNDS });
  await untilNames(stage, names.slice(0, 3));
  await expectCollected(running).toEqual([['beyond-bounds', 5]]);
  expect(running.told).toContainEqual(
    expect.objectContaining({
      reason: 'RetainedBeyondBounds',
      note: expect.stringContaining('GC_RETAINED_PER_NAMESPACE'),
    }),
  );
  await meanwhile();
  expect((await stage.names()).sort()).toEqual(names.slice(0, 3));
});

test('what another namespace keeps does not count, and what was Retained first stays, whatever comes after it', async () => {
  const owner = await makeSet('db', 3);
  const kept = [
    await retained('10.3.1.0', { name: 'db-0', owner }),
    await retained('10.3.1.1', { name: 'db-1', owner }),
  ];
  for (let at = 0; at < 5; at += 1) await retained(`10.3.2.${at}`, { namespace: 'lab', name: `x-${at}`, owner });
  await using _running = runController(stage, { settings: BOUNDS });
  await meanwhile();
  expect((await stage.names()).filter((name) => name.startsWith('10.3.1.')).sort()).toEqual(kept);
});

test('one pod through many pools, faster than it can be missed: only its last address is kept', async () => {
  const owner = await makeSet('hop', 1);
  for (const address of ['10.3.3.1', '10.3.3.2', '10.3.3.3']) await retained(address, { name: 'hop-0', owner });
  const second = await retained('10.3.3.9', { name: 'hop-0', interface: 'net1', owner });
  await using running = runController(stage, { settings: { ...BOUNDS, retainedPerNamespace: 1_000 } });
  await untilNames(stage, ['10.3.3.3', second]);
  await expectCollected(running).toEqual([['beyond-bounds', 2]]);
});

test('an owner whose kind is not served does not keep an address for ever, and an operator is told', async () => {
  await retained('10.3.4.1', { kind: 'VirtualMachineInstance', name: 'vm', owner: VMI });
  await using running = runController(stage, { settings: BOUNDS });
  await vi.waitUntil(() => running.told.length > 0, PATIENCE);
  expect(running.told).toMatchObject([{ reason: 'HolderKindNotServed' }]);
  expect(await stage.names()).toEqual(['10.3.4.1']);
  await untilNames(stage, []);
  await expectCollected(running).toEqual([['kind-not-served', 1]]);
});

test('a set that is deleted without its pods and made again keeps their addresses', async () => {
  const before = await makeSet('again', 1);
  await retained('10.3.5.1', { name: 'again-0', owner: before });
  await stage.admin('DELETE', `${SETS}/again`, { propagationPolicy: 'Background' });
  await makeSet('again', 1);
  await using running = runController(stage, { settings: BOUNDS });
  await meanwhile();
  expect(await stage.names()).toEqual(['10.3.5.1']);
  expect([...running.collected]).toEqual([]);
});

test('an owner that may not be read keeps its addresses: only a definite no ends them', async () => {
  const owner = await makeSet('dark', 1);
  await retained('10.3.6.1', { name: 'dark-5', owner });
  const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipledger-controller';
  const { rules } = await stage.admin<{ rules: { resources?: string[] }[] }>('GET', ROLE);
  const without = rules.map((rule) => ({
    ...rule,
    ...(rule.resources === undefined ? {} : { resources: rule.resources.filter((it) => it !== 'statefulsets') }),
  }));
  await stage.admin('PATCH', ROLE, { rules: without });
  {
    await using running = runController(stage, { settings: BOUNDS });
    await meanwhile();
    expect([await stage.names(), [...running.collected]]).toEqual([['10.3.6.1'], []]);
  }
  await stage.admin('PATCH', ROLE, { rules });
  await using _running = runController(stage, { settings: BOUNDS });
  await untilNames(stage, []);
});
