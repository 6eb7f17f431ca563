import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ControllerStage,
  expectCauses,
  held,
  LOST_NODE,
  PATIENCE,
  QUICK,
  runController,
  startControllerStage,
  untilNames,
  untilState,
} from './controller-stage.ts';

let stage: ControllerStage;

beforeAll(async () => {
  stage = await startControllerStage();
  return () => stage[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await stage.cluster.clear();
  await stage.admin('DELETE', '/api/v1/namespaces/prod/pods', { gracePeriodSeconds: 0 });
  for (const node of ['worker-1', 'worker-2']) await stage.setNode(node, true);
});

/** Long enough for everything that would be done wrongly to be done. */
const meanwhile = () => wait(QUICK.settleMs + 2 * QUICK.sweepEveryMs + 1_000);

describe('records in the hands of an operator', () => {
  test('edited while the pod lives: put right, and told', async () => {
    const pod = await stage.pod('edited', { address: '10.0.2.1' });
    await stage.record('10.0.2.1', held(pod));
    await using running = runController(stage);
    const path = '/apis/ipledger.io/v1alpha1/iprecords/10.0.2.1';
    await stage.admin('PATCH', path, {
      metadata: { labels: { 'ipledger.io/node': 'nowhere' } },
      spec: { state: 'Suspect', holder: { uid: 'nonsense', node: 'nowhere', name: 'nobody' } },
    });
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.2.1'))?.spec.holder.uid === pod.uid, PATIENCE);
    const { spec } = (await stage.ledger.get('10.0.2.1')) ?? {};
    expect(spec).toMatchObject({ state: 'Allocated', holder: { ...held(pod), interface: 'eth0' } });
    await vi.waitUntil(() => running.told.length === 1, PATIENCE);
    expect(running.told).toMatchObject([{ reason: 'AddressRepaired' }]);
  });

  test('whose labels were changed: they say what the spec says again', async () => {
    const pod = await stage.pod('labels', { address: '10.0.2.2' });
    await stage.record('10.0.2.2', held(pod));
    await using _running = runController(stage);
    const path = '/apis/ipledger.io/v1alpha1/iprecords/10.0.2.2';
    await stage.admin('PATCH', path, { metadata: { labels: { 'ipledger.io/node': 'nowhere' } } });
    const nodeLabel = async () => {
      const { metadata } = await stage.admin<{ metadata: { labels: Record<string, string> } }>('GET', path);
      return metadata.labels['ipledger.io/node'];
    };
    await vi.waitUntil(async () => (await nodeLabel()) === 'worker-1', PATIENCE);
  });

  test('deleted while the pod lives: made again if one pool has the address, and told on the pod', async () => {
    const pools = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
    const makePool = (name: string, net: string) =>
      stage.admin('POST', pools, {
        apiVersion: 'spiderpool.spidernet.io/v2beta1',
        kind: 'SpiderIPPool',
        metadata: { name },
        spec: { subnet: `${net}.0/24`, gateway: `${net}.1`, ips: [`${net}.10-${net}.20`] },
      });
    await makePool('lost-and-found', '10.0.3');
    await makePool('second-interfaces', '10.0.8');
    const ours = await stage.pod('ours', { address: '10.0.3.10' });
    await stage.pod('not-ours', { address: '192.168.7.7' });
    // Its record shows that the first interfaces of its node are ours. Nothing shows that of the other node and pool.
    await stage.record('10.0.9.1', held(await stage.pod('sibling', { address: '10.0.9.1' })));
    await stage.pod('of-an-overlay', { address: '10.0.8.10', node: 'worker-2' });
    await using running = runController(stage);
    await untilNames(stage, ['10.0.3.10', '10.0.9.1']);
    expect((await stage.ledger.get('10.0.3.10'))?.spec).toMatchObject({
      state: 'Allocated',
      prefix: 24,
      gateway: '10.0.3.1',
      pool: { name: 'lost-and-found' },
      holder: held(ours),
    });
    await vi.waitUntil(() => running.told.length === 1, PATIENCE);
    expect(running.told).toMatchObject([{ reason: 'AddressRecordRestored', regarding: { kind: 'Pod', name: 'ours' } }]);
    await meanwhile();
    expect(await stage.names()).toEqual(['10.0.3.10', '10.0.9.1']);
    for (const name of ['lost-and-found', 'second-interfaces']) await stage.admin('DELETE', `${pools}/${name}`);
  });
});

test('Cooling and Quarantined records end when their time is over, and not before', async () => {
  const {
    uid: _uid,
    containerID: _containerID,
    ...holder
  } = (await stage.record('10.0.4.1', { name: 'x' })).spec.holder;
  await stage.cluster.clear();
  const soon = new Date(Date.now() + 2_000).toISOString();
  const late = new Date(Date.now() + 3_600_000).toISOString();
  const objects = [
    { address: '10.0.4.1', state: 'Cooling', until: soon },
    { address: '10.0.4.2', state: 'Quarantined', until: soon },
    { address: '10.0.4.3', state: 'Cooling', until: late },
  ];
  for (const object of objects) {
    const pool = { kind: 'SpiderIPPool', name: 'pool-a', uid: 'pool-uid-a' };
    await stage.admin('POST', '/apis/ipledger.io/v1alpha1/iprecords', {
      apiVersion: 'ipledger.io/v1alpha1',
      kind: 'IPRecord',
      metadata: { name: object.address },
      spec: { ...object, prefix: 24, domain: 'default', pool, holder },
    });
  }
  await using running = runController(stage);
  await untilNames(stage, ['10.0.4.3']);
  await expectCauses(running).toEqual(['cooled', 'quarantine-over']);
});

test('a quarantine ends as the agent wrote it: for a foreign host, in no namespace', async () => {
  const seen = await stage.record('10.0.4.9', { name: 'x', uid: 'x' });
  const { interface: nic, attachGeneration, node } = seen.spec.holder;
  const holder = {
    kind: 'Conflict',
    namespace: '',
    name: 'd2:f7:01:02:03:04',
    interface: nic,
    attachGeneration,
    node,
  } as const;
  const until = new Date(Date.now() + 1_000).toISOString();
  const quarantined = await stage.ledger.amend(seen, { ...seen.spec, state: 'Quarantined', until, holder });
  expect(quarantined.done).toBe(true);
  await using running = runController(stage, { settings: { sweepEveryMs: 600_000 } });
  await untilNames(stage, []);
  await expectCauses(running).toEqual(['quarantine-over']);
});

test('a pool with a cooldown: what is collected rests first', async () => {
  const pools = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
  await stage.admin('POST', pools, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name: 'pool-a', annotations: { 'ipledger.io/reuse-cooldown': '10m' } },
    spec: { subnet: '10.0.5.0/24', ips: ['10.0.5.10-10.0.5.20'] },
  });
  await stage.record('10.0.5.10', { name: 'dead', uid: 'dead', node: LOST_NODE });
  await using _running = runController(stage);
  await vi.waitUntil(async () => (await stage.ledger.get('10.0.5.10'))?.spec.state === 'Cooling', PATIENCE);
  const until = Date.parse((await stage.ledger.get('10.0.5.10'))?.spec.until ?? '');
  expect(until).toBeGreaterThan(Date.now() + 500_000);
  await stage.admin('DELETE', `${pools}/pool-a`);
});

const SETS = '/apis/apps/v1/namespaces/prod/statefulsets';

/** What is collected where that is allowed, and what is done in any case. */
async function prepareAll() {
  await stage.record('10.0.6.1', { name: 'dead', uid: 'dead' });
  await stage.record('10.0.6.2', { name: 'dead', uid: 'dead', node: LOST_NODE });
  const resting = await stage.record('10.0.6.3', { name: 'x', uid: 'x' });
  const { uid: _uid, containerID: _containerID, ...holder } = resting.spec.holder;
  const until = new Date(Date.now() + 1_000).toISOString();
  await stage.ledger.amend(resting, { ...resting.spec, state: 'Cooling', until, holder });
  const edited = await stage.pod('edited', { address: '10.0.6.4' });
  await stage.record('10.0.6.4', { ...held(edited), uid: 'nonsense' });
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const { metadata } = await stage.admin<{ metadata: { uid: string } }>('POST', SETS, {
    metadata: { name: 'web' },
    spec: { replicas: 2, serviceName: 'web', selector: { matchLabels: { app: 'web' } }, template },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  await stage.record('10.0.6.5', { name: 'web-0', uid: 'before', owner });
  await stage.record('10.0.6.6', { name: 'web-1', uid: 'before', owner });
  await stage.pod('web-0', { phase: 'Pending', owner: { ...owner, uid: metadata.uid } });
  return { edited, remove: () => stage.admin('DELETE', `${SETS}/web`) };
}

test.each([
  { name: 'switched off', settings: { isEnabled: false }, counted: [] },
  // The StatefulSet's pod that is not there again, the deleted pod, and the one of a lost node; each in every sweep.
  { name: 'a dry run', settings: { isDryRun: true }, counted: ['node-gone', 'pod-gone'] },
])('collection $name: nothing is collected, and everything else is done', async ({ settings, counted }) => {
  const { edited, remove } = await prepareAll();
  await using running = runController(stage, { settings });
  await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
  await untilState(stage, '10.0.6.5', 'Retained');
  await vi.waitUntil(async () => (await stage.ledger.get('10.0.6.4'))?.spec.holder.uid === edited.uid, PATIENCE);
  await vi.waitUntil(async () => (await stage.ledger.get('10.0.6.3')) === null, PATIENCE);
  await meanwhile();
  const states = ['10.0.6.1', '10.0.6.2', '10.0.6.6'].map(async (name) => (await stage.ledger.get(name))?.spec.state);
  expect(await Promise.all(states)).toEqual(['Allocated', 'Allocated', 'Allocated']);
  const causes = new Set(['cooled', 'edited-by-hand', 'pod-gone', ...counted]);
  await expectCauses(running).toEqual([...causes].toSorted());
  await remove();
});
