import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ControllerStage,
  expectCauses,
  expectCollected,
  held,
  leakRecords,
  PATIENCE,
  QUICK,
  runController,
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
  await stage.admin('DELETE', '/api/v1/namespaces/prod/pods', { gracePeriodSeconds: 0 });
  for (const node of ['worker-1', 'worker-2']) await stage.setNode(node, true);
});

/** Long enough for any wrong write to happen. */
const meanwhile = () => wait(QUICK.settleMs + 2 * QUICK.sweepEveryMs + 1_000);

describe('a pod whose DEL never came', () => {
  test('deleted while its node is well: its address comes back, not before it settled; the living keep theirs', async () => {
    const living = await stage.pod('living', { address: '10.0.0.1' });
    const dying = await stage.pod('dying', { address: '10.0.0.2' });
    await stage.record('10.0.0.1', held(living));
    await stage.record('10.0.0.2', held(dying));
    await using running = runController(stage);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await meanwhile();
    expect(await stage.names()).toEqual(['10.0.0.1', '10.0.0.2']);
    const deletedAt = performance.now();
    await stage.forceDelete(dying);
    await untilNames(stage, ['10.0.0.1']);
    expect(performance.now() - deletedAt).toBeGreaterThan(QUICK.settleMs);
    await expectCollected(running).toEqual([['pod-gone', 1]]);
  });

  test('500 of them: all come back', async () => {
    const living = await stage.pod('living', { address: '10.1.0.1' });
    await stage.record('10.1.0.1', held(living));
    await leakRecords(stage, 500);
    await using running = runController(stage);
    await untilNames(stage, ['10.1.0.1']);
    await expectCollected(running).toEqual([['pod-gone', 500]]);
  });

  test('with a grace of 0: gone at once, its address comes back once; Succeeded with a grace of 0: too', async () => {
    const brief = await stage.pod('brief', { graceSeconds: 0, address: '10.0.0.1' });
    await stage.record('10.0.0.1', held(brief));
    const finished = await stage.pod('finished', { graceSeconds: 0, address: '10.0.0.2', phase: 'Succeeded' });
    await stage.record('10.0.0.2', held(finished));
    const living = await stage.pod('living', { graceSeconds: 0, address: '10.0.0.3' });
    await stage.record('10.0.0.3', held(living));
    await using running = runController(stage);
    await stage.admin('DELETE', '/api/v1/namespaces/prod/pods/brief');
    await untilNames(stage, ['10.0.0.3']);
    await expectCollected(running).toEqual([
      ['pod-finished', 1],
      ['pod-gone', 1],
    ]);
  });

  test('with its namespace: it comes back', async () => {
    await stage.admin('POST', '/api/v1/namespaces', { metadata: { name: 'short-lived' } });
    const pod = await stage.pod('web', { namespace: 'short-lived', address: '10.0.0.3' });
    await stage.record('10.0.0.3', held(pod));
    await using _running = runController(stage);
    await stage.forceDelete(pod);
    await stage.admin('DELETE', '/api/v1/namespaces/short-lived');
    const path = '/api/v1/namespaces/short-lived/finalize';
    await stage.admin('PUT', path, { metadata: { name: 'short-lived' }, spec: { finalizers: [] } });
    await untilNames(stage, []);
  });

  test('replaced by one of the same name: the old address comes back, the new one stays', async () => {
    const first = await stage.pod('bare', { address: '10.0.0.4' });
    await stage.record('10.0.0.4', held(first));
    await using _running = runController(stage);
    await stage.forceDelete(first);
    const second = await stage.pod('bare', { address: '10.0.0.5' });
    await stage.record('10.0.0.5', held(second));
    await untilNames(stage, ['10.0.0.5']);
  });

  test('finished, without finish times: it comes back after its grace', async () => {
    const pod = await stage.pod('job', { address: '10.0.0.6', phase: 'Failed', graceSeconds: 2 });
    await stage.record('10.0.0.6', held(pod));
    await using running = runController(stage);
    await untilNames(stage, []);
    await expectCollected(running).toEqual([['pod-finished', 1]]);
  });

  test('Terminating past its deadline, its containers ended: it comes back; with one that runs on: Suspect', async () => {
    const ended = { name: 'main', image: 'main', imageID: '', ready: false, restartCount: 0 };
    const pods = '/api/v1/namespaces/prod/pods';
    for (const [at, state] of [{ terminated: { exitCode: 0 } }, { running: {} }].entries()) {
      const pod = await stage.pod(`stuck-${at}`, { address: `10.0.0.2${at}` });
      await stage.admin('PATCH', `${pods}/stuck-${at}/status`, {
        status: { containerStatuses: [{ ...ended, state }] },
      });
      await stage.record(`10.0.0.2${at}`, held(pod));
      await stage.admin('DELETE', `${pods}/stuck-${at}`, { gracePeriodSeconds: 2 });
    }
    await using _running = runController(stage);
    await untilNames(stage, ['10.0.0.21']);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.21'))?.spec.state === 'Suspect', PATIENCE);
  });
});

describe('a node', () => {
  test('not Ready, its pod deleted by force: Suspect and kept; Ready again: free, not before its kubelet had time', async () => {
    const settleMs = 6_000; // longer than a sweep and a renewal of the lease take
    const pod = await stage.pod('far', { node: 'worker-2', address: '10.0.0.7' });
    await stage.record('10.0.0.7', held(pod));
    await using running = runController(stage, { settings: { settleMs } });
    await stage.setNode('worker-2', false);
    await stage.forceDelete(pod);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.7'))?.spec.state === 'Suspect', PATIENCE);
    await wait(settleMs + 1_000);
    expect(await stage.ledger.get('10.0.0.7')).toMatchObject({ spec: { state: 'Suspect', holder: { uid: pod.uid } } });
    expect(running.told).toMatchObject([{ reason: 'AddressSuspect', regarding: { name: '10.0.0.7' } }]);
    const backAt = performance.now();
    await stage.setNode('worker-2', true);
    await untilNames(stage, []);
    expect(performance.now() - backAt).toBeGreaterThan(settleMs);
  });

  test('not Ready, its pods there: all kept', async () => {
    const pod = await stage.pod('far', { node: 'worker-2', address: '10.0.0.8' });
    const before = await stage.record('10.0.0.8', held(pod));
    await using running = runController(stage);
    await stage.setNode('worker-2', false);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await meanwhile();
    expect(await stage.ledger.get('10.0.0.8')).toEqual(before);
  });

  test('gone for long: the address of its deleted pod is free, that of one still there is kept', async () => {
    await stage.setNode('worker-9', true);
    const gone = await stage.pod('gone', { node: 'worker-9', address: '10.0.0.9' });
    const there = await stage.pod('there', { node: 'worker-9', address: '10.0.0.10' });
    await stage.record('10.0.0.9', held(gone));
    await stage.record('10.0.0.10', held(there));
    await using running = runController(stage);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await stage.removeNode('worker-9');
    await stage.forceDelete(gone);
    await untilNames(stage, ['10.0.0.10']);
    await expectCauses(running).toEqual(['node-gone']);
  });
});

describe('records that an operator changes', () => {
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
    await stage.admin('POST', pools, {
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderIPPool',
      metadata: { name: 'lost-and-found' },
      spec: { subnet: '10.0.3.0/24', gateway: '10.0.3.1', ips: ['10.0.3.10-10.0.3.20'] },
    });
    const ours = await stage.pod('ours', { address: '10.0.3.10' });
    await stage.pod('not-ours', { address: '192.168.7.7' });
    await using running = runController(stage);
    await untilNames(stage, ['10.0.3.10']);
    expect((await stage.ledger.get('10.0.3.10'))?.spec).toMatchObject({
      state: 'Allocated',
      prefix: 24,
      gateway: '10.0.3.1',
      pool: { name: 'lost-and-found' },
      holder: held(ours),
    });
    await vi.waitUntil(() => running.told.length === 1, PATIENCE);
    expect(running.told).toMatchObject([{ reason: 'AddressRecordRestored', regarding: { kind: 'Pod', name: 'ours' } }]);
    await stage.admin('DELETE', `${pools}/lost-and-found`);
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

test('in a pool with a cooldown a collected record becomes Cooling', async () => {
  const pools = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
  await stage.admin('POST', pools, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name: 'pool-a', annotations: { 'ipledger.io/reuse-cooldown': '10m' } },
    spec: { subnet: '10.0.5.0/24', ips: ['10.0.5.10-10.0.5.20'] },
  });
  await stage.record('10.0.5.10', { name: 'dead', uid: 'dead' });
  await using _running = runController(stage);
  await vi.waitUntil(async () => (await stage.ledger.get('10.0.5.10'))?.spec.state === 'Cooling', PATIENCE);
  const until = Date.parse((await stage.ledger.get('10.0.5.10'))?.spec.until ?? '');
  expect(until).toBeGreaterThan(Date.now() + 500_000);
  await stage.admin('DELETE', `${pools}/pool-a`);
});

test('a dry run counts what it would do, and does nothing', async () => {
  const before = await stage.record('10.0.6.1', { name: 'dead', uid: 'dead' });
  await using running = runController(stage, { settings: { isDryRun: true } });
  await vi.waitUntil(() => running.collected.has('pod-gone'), PATIENCE);
  await meanwhile();
  expect(await stage.ledger.get('10.0.6.1')).toEqual(before);
});

test('switched off, nothing is collected', async () => {
  await stage.record('10.0.6.2', { name: 'dead', uid: 'dead' });
  await using running = runController(stage, { settings: { isEnabled: false } });
  await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
  await meanwhile();
  expect(await stage.names()).toEqual(['10.0.6.2']);
});
