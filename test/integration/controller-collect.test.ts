import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import {
  type ControllerStage,
  expectCauses,
  expectCollected,
  held,
  LOST_NODE,
  leakRecords,
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

/** Long enough for any wrong write to happen. */
const meanwhile = () => wait(QUICK.settleMs + 2 * QUICK.sweepEveryMs + 1_000);

/** As the agent of its node does once it sees that the namespace is gone. */
async function releaseByItsAgent(name: string): Promise<void> {
  const ledger = openKubernetesLedger(stage.cluster.agent({ node: 'worker-1' }));
  const record = await ledger.get(name);
  if (record === null) throw new Error(`${name} is gone already`);
  expect(await ledger.release(record)).toMatchObject({ done: true });
  await ledger.close();
}

describe('a pod whose DEL never came, on a node with a Ready agent', () => {
  test('deleted: left to its agent for a while, then Suspect and told; its agent still frees it; the living keep theirs', async () => {
    const living = await stage.pod('living', { address: '10.0.0.1' });
    const dying = await stage.pod('dying', { address: '10.0.0.2' });
    await stage.record('10.0.0.1', held(living));
    await stage.record('10.0.0.2', held(dying));
    await using running = runController(stage);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await meanwhile();
    expect(running.collected.size).toBe(0);
    const deletedAt = performance.now();
    await stage.forceDelete(dying);
    const { spec } = await untilState(stage, '10.0.0.2', 'Suspect');
    expect(performance.now() - deletedAt).toBeGreaterThan(QUICK.settleMs);
    expect(spec.holder).toMatchObject({ uid: dying.uid, containerID: 'container-0' });
    await meanwhile();
    expect(await stage.names()).toEqual(['10.0.0.1', '10.0.0.2']);
    await expectCollected(running).toEqual([['pod-gone', 1]]);
    expect([...running.doubted]).toEqual([['pod-gone', 1]]);
    expect(running.told).toMatchObject([{ reason: 'AddressSuspect', regarding: { name: '10.0.0.2' } }]);
    await releaseByItsAgent('10.0.0.2');
    await untilNames(stage, ['10.0.0.1']);
  });

  test('released by its agent in time: the controller has nothing to do', async () => {
    const dying = await stage.pod('dying', { address: '10.0.0.2' });
    await stage.record('10.0.0.2', held(dying));
    await using running = runController(stage);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await stage.forceDelete(dying);
    await releaseByItsAgent('10.0.0.2');
    await meanwhile();
    expect(running.collected.size).toBe(0);
  });

  test('with a grace of 0: Suspect once; Succeeded with a grace of 0: too', async () => {
    const brief = await stage.pod('brief', { graceSeconds: 0, address: '10.0.0.1' });
    await stage.record('10.0.0.1', held(brief));
    const finished = await stage.pod('finished', { graceSeconds: 0, address: '10.0.0.2', phase: 'Succeeded' });
    await stage.record('10.0.0.2', held(finished));
    const living = await stage.pod('living', { graceSeconds: 0, address: '10.0.0.3' });
    await stage.record('10.0.0.3', held(living));
    await using running = runController(stage);
    await stage.admin('DELETE', '/api/v1/namespaces/prod/pods/brief');
    for (const name of ['10.0.0.1', '10.0.0.2']) await untilState(stage, name, 'Suspect');
    await expectCollected(running).toEqual([
      ['pod-finished', 1],
      ['pod-gone', 1],
    ]);
    expect((await stage.ledger.get('10.0.0.3'))?.spec.state).toBe('Allocated');
  });

  test('deleted with its namespace: Suspect', async () => {
    await stage.admin('POST', '/api/v1/namespaces', { metadata: { name: 'short-lived' } });
    const pod = await stage.pod('web', { namespace: 'short-lived', address: '10.0.0.3' });
    await stage.record('10.0.0.3', held(pod));
    await using _running = runController(stage);
    await stage.forceDelete(pod);
    await stage.admin('DELETE', '/api/v1/namespaces/short-lived');
    const path = '/api/v1/namespaces/short-lived/finalize';
    await stage.admin('PUT', path, { metadata: { name: 'short-lived' }, spec: { finalizers: [] } });
    await untilState(stage, '10.0.0.3', 'Suspect');
  });

  test('replaced by one of the same name, with another uid: the old address is Suspect, the new one stays', async () => {
    const first = await stage.pod('bare', { address: '10.0.0.4' });
    await stage.record('10.0.0.4', held(first));
    await using _running = runController(stage);
    await stage.forceDelete(first);
    const second = await stage.pod('bare', { address: '10.0.0.5' });
    await stage.record('10.0.0.5', held(second));
    await untilState(stage, '10.0.0.4', 'Suspect');
    expect((await stage.ledger.get('10.0.0.5'))?.spec.state).toBe('Allocated');
  });

  test('Failed, without finish times: Suspect after its grace', async () => {
    const pod = await stage.pod('job', { address: '10.0.0.6', phase: 'Failed', graceSeconds: 2 });
    await stage.record('10.0.0.6', held(pod));
    await using running = runController(stage);
    await untilState(stage, '10.0.0.6', 'Suspect');
    await expectCollected(running).toEqual([['pod-finished', 1]]);
  });

  test('Terminating past its deadline: Suspect, be its containers ended, running or never started', async () => {
    const ended = { name: 'main', image: 'main', imageID: '', ready: false, restartCount: 0 };
    const pods = '/api/v1/namespaces/prod/pods';
    const states = [{ terminated: { exitCode: 0 } }, { running: {} }, { waiting: {} }];
    for (const [at, state] of states.entries()) {
      const phase = 'waiting' in state ? 'Pending' : 'Running';
      const pod = await stage.pod(`stuck-${at}`, { address: `10.0.0.2${at}`, phase });
      await stage.admin('PATCH', `${pods}/stuck-${at}/status`, {
        status: { containerStatuses: [{ ...ended, state }] },
      });
      await stage.record(`10.0.0.2${at}`, held(pod));
      await stage.admin('DELETE', `${pods}/stuck-${at}`, { gracePeriodSeconds: 2 });
    }
    await using running = runController(stage);
    for (const at of states.keys()) await untilState(stage, `10.0.0.2${at}`, 'Suspect');
    await expectCollected(running).toEqual([['pod-terminating', 3]]);
  });

  test('Terminating past its deadline, with Terminating pods left alone: kept', async () => {
    const pod = await stage.pod('stuck', { address: '10.0.0.2' });
    await stage.record('10.0.0.2', held(pod));
    await stage.admin('DELETE', '/api/v1/namespaces/prod/pods/stuck', { gracePeriodSeconds: 1 });
    await using running = runController(stage, { settings: { collectsTerminating: false } });
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await meanwhile();
    await meanwhile();
    expect(running.collected.size).toBe(0);
  });

  test('a static pod without its mirror object: kept', async () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'worker-1' };
    await stage.record('10.0.0.2', { name: 'marked', uid: 'a', static: true });
    await stage.record('10.0.0.3', { name: 'older', uid: 'b', owner });
    await stage.record('10.0.0.4', { name: 'plain', uid: 'c' });
    await using running = runController(stage);
    await untilState(stage, '10.0.0.4', 'Suspect');
    await meanwhile();
    await expectCollected(running).toEqual([['pod-gone', 1]]);
  });
});

describe('an agent', () => {
  test('away for a while, as in a rollout: nothing happens; away for long: Suspect. A stranger is no agent', async () => {
    const stranger = {
      name: 'agent',
      labels: { 'app.kubernetes.io/name': 'ipledger', 'app.kubernetes.io/component': 'agent' },
    };
    const spec = { nodeName: 'worker-1', containers: [{ name: 'main', image: 'main' }] };
    const pods = '/api/v1/namespaces/prod/pods';
    await stage.admin('POST', pods, { metadata: stranger, spec });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await stage.admin('PATCH', `${pods}/agent/status`, { status: { phase: 'Running', conditions } });
    const dying = await stage.pod('dying', { address: '10.0.0.2' });
    await stage.record('10.0.0.2', held(dying));
    await using running = runController(stage);
    await vi.waitUntil(() => running.controller.isLeader(), PATIENCE);
    await meanwhile();
    const awayAt = performance.now();
    await stage.setAgent('worker-1', false);
    await stage.forceDelete(dying);
    await untilState(stage, '10.0.0.2', 'Suspect');
    expect(performance.now() - awayAt).toBeGreaterThan(QUICK.agentAwayMs);
  });
});

describe('a node', () => {
  test('not Ready, its pod deleted by force: Suspect and kept, also after it is Ready again', async () => {
    const pod = await stage.pod('far', { node: 'worker-2', address: '10.0.0.7' });
    await stage.record('10.0.0.7', held(pod));
    await using running = runController(stage);
    await stage.setNode('worker-2', false);
    await stage.forceDelete(pod);
    await untilState(stage, '10.0.0.7', 'Suspect');
    await meanwhile();
    await stage.setNode('worker-2', true);
    await meanwhile();
    expect(await stage.ledger.get('10.0.0.7')).toMatchObject({ spec: { state: 'Suspect', holder: { uid: pod.uid } } });
    expect(running.told).toMatchObject([{ reason: 'AddressSuspect', regarding: { name: '10.0.0.7' } }]);
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

  test('lost, with 500 addresses, Suspect ones too: all come back', async () => {
    const living = await stage.pod('living', { address: '10.1.0.1' });
    await stage.record('10.1.0.1', held(living));
    await leakRecords(stage, 499);
    const last = await stage.record('10.3.0.1', { name: 'dead', uid: 'dead', node: LOST_NODE });
    await stage.ledger.amend(last, { ...last.spec, state: 'Suspect' });
    await using running = runController(stage);
    await untilNames(stage, ['10.1.0.1']);
    await expectCollected(running).toEqual([['node-gone', 500]]);
  });

  test('not named, in a leak that was adopted: it comes back; that of a pod that is there is put right', async () => {
    const there = await stage.pod('there', { address: '10.0.0.11' });
    const bare = { interface: 'eth0', node: '' };
    await stage.record('10.0.0.11', { ...held(there), ...bare });
    const leaked = await stage.record('10.0.0.12', { name: 'leaked', uid: 'unknown', ...bare });
    await stage.record('10.0.0.13', { name: 'leaked', uid: 'unknown', ...bare });
    await stage.ledger.amend(leaked, { ...leaked.spec, state: 'Suspect' });
    await using running = runController(stage);
    await untilNames(stage, ['10.0.0.11']);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.11'))?.spec.holder.node === 'worker-1', PATIENCE);
    await expectCollected(running).toEqual([
      ['edited-by-hand', 1],
      ['pod-gone', 2],
    ]);
  });
});
