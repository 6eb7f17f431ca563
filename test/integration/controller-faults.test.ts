import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { toRetained } from '#pkg/record/released-spec.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import {
  type ControllerStage,
  expectCollected,
  held,
  LOST_NODE,
  leadAnyway,
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

const LIVING = ['10.1.0.0', '10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4'];

/** Records of this number of deleted pods, and of five living ones. */
async function leak(count: number): Promise<void> {
  for (const [at, address] of LIVING.entries()) {
    const pod = await stage.pod(`living-${at}`, { address });
    await stage.record(address, held(pod));
  }
  await leakRecords(stage, count);
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);

describe('leaders', () => {
  test('killed in the middle of its work: the next one finishes it, and the living keep theirs', async () => {
    await leak(300);
    await using proxy = await startTcpProxy(stage.cluster.port);
    const settings = { workers: 2 };
    const doomed = runController(stage, {
      identity: 'doomed',
      client: stage.cluster.controller({ port: proxy.port }),
      settings,
    });
    await vi.waitUntil(() => doomed.controller.isLeader(), PATIENCE);
    await using heir = runController(stage, { identity: 'heir', settings });
    await vi.waitUntil(() => sum(doomed.collected) > 20, { ...PATIENCE, interval: 5 });
    proxy.refuse();
    proxy.cut(); // the cluster cannot reach it, and its lease expires
    await untilNames(stage, LIVING);
    expect(sum(heir.collected)).toBeGreaterThan(0);
    expect(sum(heir.collected) + sum(doomed.collected)).toBeLessThanOrEqual(300);
    await doomed[Symbol.asyncDispose]();
  });

  test('two at once, one of them woken from a pause: each address comes back once, no living one is lost', async () => {
    await leak(200);
    await using first = await leadAnyway(stage);
    await using second = await leadAnyway(stage);
    const working = Promise.all([first.collection.run(), second.collection.run()]);
    await untilNames(stage, LIVING);
    await vi.waitUntil(() => sum(first.collected) + sum(second.collected) >= 200, PATIENCE);
    expect(sum(first.collected) + sum(second.collected)).toBe(200);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await working;
  });

  test('whose lease ran out unnoticed: nothing is written until it may again', async () => {
    await stage.record('10.0.0.1', { name: 'dead', uid: 'dead', node: LOST_NODE });
    let isAsked = false;
    let mayWrite = false;
    const ask = () => {
      isAsked = true;
      return mayWrite;
    };
    await using leader = await leadAnyway(stage, { mayWrite: ask });
    const working = leader.collection.run();
    await vi.waitUntil(() => isAsked, PATIENCE);
    await wait(1_000);
    expect(await stage.names()).toEqual(['10.0.0.1']);
    expect(sum(leader.collected)).toBe(0);
    mayWrite = true;
    await untilNames(stage, []);
    await leader[Symbol.asyncDispose]();
    await working;
  });
});

describe('watches that are late', () => {
  test('a record that was taken over meanwhile: the write of the old view is refused', async () => {
    await using proxy = await startTcpProxy(stage.cluster.port);
    const viewClient = stage.cluster.controller({ port: proxy.port });
    const first = await stage.pod('web-0', { address: '10.0.0.1' });
    const seen = await stage.record('10.0.0.1', held(first));
    await using leader = await leadAnyway(stage, { viewClient });
    await stage.forceDelete(first);
    await vi.waitUntil(() => leader.view.pods.get('prod', 'web-0') === null, PATIENCE);
    proxy.hold();
    const second = await stage.pod('web-0', {});
    const suspect = await stage.ledger.amend(seen, { ...seen.spec, state: 'Suspect' });
    if (!suspect.done) throw new Error('not suspected');
    const holder = { ...seen.spec.holder, ...held(second) };
    const taken = await stage.ledger.takeOver(suspect.record, { ...seen.spec, state: 'Allocated', holder });
    expect(taken.done).toBe(true);
    await leader.collection.sweep();
    await wait(QUICK.settleMs + 500);
    await leader.collection.sweep();
    await wait(1_500);
    expect(leader.view.records.get('10.0.0.1')?.record.resourceVersion).toBe(seen.resourceVersion);
    expect(await stage.ledger.get('10.0.0.1')).toMatchObject({ spec: { state: 'Allocated', holder: held(second) } });
    expect(sum(leader.collected)).toBe(0);
    proxy.release();
  });

  test('a node that fell silent meanwhile: its address becomes Suspect and is not freed', async () => {
    await using proxy = await startTcpProxy(stage.cluster.port);
    const viewClient = stage.cluster.controller({ port: proxy.port });
    const pod = await stage.pod('far', { node: 'worker-2', address: '10.0.0.2' });
    await stage.record('10.0.0.2', held(pod));
    await using leader = await leadAnyway(stage, { viewClient });
    await vi.waitUntil(() => leader.view.nodes.sighting('worker-2').lease?.renewedAtMs != null, PATIENCE);
    await stage.forceDelete(pod);
    await vi.waitUntil(() => leader.view.pods.get('prod', 'far') === null, PATIENCE);
    await leader.collection.sweep();
    proxy.hold();
    await stage.setNode('worker-2', false);
    expect(leader.view.nodes.sighting('worker-2').node?.isReady).toBe(true);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.2'))?.spec.state === 'Suspect', PATIENCE);
    proxy.release();
  });

  test('a pod that the view has never heard of: its record is kept, and its absence is timed from a read', async () => {
    await using proxy = await startTcpProxy(stage.cluster.port);
    const viewClient = stage.cluster.controller({ port: proxy.port });
    await using leader = await leadAnyway(stage, { viewClient });
    const pod = await stage.pod('new', { address: '10.0.0.3' });
    await stage.record('10.0.0.3', held(pod));
    await vi.waitUntil(() => leader.view.records.get('10.0.0.3') !== null, PATIENCE);
    leader.view.pods.remove('prod', 'new'); // as if only the watch of pods were late
    await leader.collection.sweep();
    await wait(QUICK.settleMs + 500);
    await leader.collection.sweep();
    await wait(1_000);
    expect(sum(leader.collected)).toBe(0);
    const deletedAt = performance.now();
    await stage.forceDelete(pod);
    await leader.collection.sweep();
    await untilState(stage, '10.0.0.3', 'Suspect');
    expect(performance.now() - deletedAt).toBeGreaterThan(QUICK.settleMs);
  });
});

test('the API server restarts during collection: it is finished, and the living keep theirs', async () => {
  await leak(300);
  await using running = runController(stage, { settings: { workers: 2 } });
  await vi.waitUntil(() => sum(running.collected) > 20, { ...PATIENCE, interval: 5 });
  await stage.cluster.server.restart();
  await untilNames(stage, LIVING);
});

describe('the kind of a holder', () => {
  const KINDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const INSTANCES = '/apis/kubevirt.io/v1/namespaces/prod/virtualmachineinstances';
  const kindOf = (plural: string, kind: string) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.kubevirt.io` },
    spec: {
      group: 'kubevirt.io',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  });
  const isThere = (path: string) =>
    stage.admin('GET', path).then(
      () => true,
      () => false,
    );
  const install = async () => {
    await stage.admin('POST', KINDS, kindOf('virtualmachineinstances', 'VirtualMachineInstance'));
    await stage.admin('POST', KINDS, kindOf('virtualmachines', 'VirtualMachine'));
    await vi.waitUntil(() => isThere(INSTANCES), PATIENCE);
  };
  /** Until the last trace of it is gone, or it could not be installed again. */
  const uninstall = async () => {
    const kinds = ['virtualmachineinstances', 'virtualmachines'].map((plural) => `${KINDS}/${plural}.kubevirt.io`);
    for (const kind of kinds) await stage.admin('DELETE', kind);
    for (const path of [...kinds, INSTANCES]) await vi.waitUntil(async () => !(await isThere(path)), PATIENCE);
  };
  const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: { name: 'vm' } };

  test('removed and installed again with its objects: nothing is given up; the machine deleted: Suspect', async () => {
    await install();
    await stage.admin('POST', INSTANCES, machine);
    const holder = { kind: 'VirtualMachineInstance', name: 'vm', uid: 'launcher' } as const;
    await stage.record('10.0.0.4', holder);
    await using running = runController(stage, { settings: { settleMs: 6_000 } });
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.4'))?.spec.state === 'Retained', PATIENCE);
    await uninstall();
    await vi.waitUntil(() => running.told.length > 1, PATIENCE);
    expect(running.told).toMatchObject([{ reason: 'AddressRetainedInDoubt' }, { reason: 'HolderKindNotServed' }]);
    await wait(7_000);
    expect(await stage.names()).toEqual(['10.0.0.4']);
    await install();
    await stage.admin('POST', INSTANCES, machine);
    await wait(8_000);
    expect(await stage.names()).toEqual(['10.0.0.4']);
    await stage.admin('DELETE', `${INSTANCES}/vm`);
    await untilState(stage, '10.0.0.4', 'Suspect');
    await uninstall();
  });

  test('served again: a machine that migrated has its address at its new place', async () => {
    await install();
    const { metadata } = await stage.admin<{ metadata: { uid: string } }>('POST', INSTANCES, machine);
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: metadata.uid };
    const source = await stage.pod('virt-launcher-vm-a', { owner });
    const { uid, node } = source;
    await stage.record('10.0.0.5', { kind: 'VirtualMachineInstance', name: 'vm', uid, node });
    await using _running = runController(stage);
    const target = await stage.pod('virt-launcher-vm-b', { owner, node: 'worker-2' });
    await stage.forceDelete(source);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.5'))?.spec.holder.uid === target.uid, PATIENCE);
    const { spec } = (await stage.ledger.get('10.0.0.5')) ?? {};
    expect(spec).toMatchObject({ state: 'Allocated', holder: { name: 'vm', node: 'worker-2' } });
    expect(spec?.holder).not.toHaveProperty('containerID');
    await uninstall();
  });

  test('a machine that migrated, its second address retained by the DEL of the source: it has it at its new place', async () => {
    await install();
    const { metadata } = await stage.admin<{ metadata: { uid: string } }>('POST', INSTANCES, machine);
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: metadata.uid };
    const source = await stage.pod('virt-launcher-vm-a', { owner });
    const { uid, node } = source;
    const second = { kind: 'VirtualMachineInstance', name: 'vm', uid, node, interface: 'net1' } as const;
    const seen = await stage.record('10.0.0.6', second);
    const annotations = { 'kubevirt.io/migrationJobName': 'job-1' };
    const target = await stage.pod('virt-launcher-vm-b', { owner, node: 'worker-2', annotations });
    const retained = await stage.ledger.amend(seen, toRetained(seen.spec));
    expect(retained.done).toBe(true);
    await stage.forceDelete(source);
    await using running = runController(stage);
    await vi.waitUntil(async () => (await stage.ledger.get('10.0.0.6'))?.spec.holder.uid === target.uid, PATIENCE);
    await wait(QUICK.notTakenMs + 2 * QUICK.sweepEveryMs);
    const { spec } = (await stage.ledger.get('10.0.0.6')) ?? {};
    expect(spec).toMatchObject({ state: 'Allocated', holder: { name: 'vm', node: 'worker-2', interface: 'net1' } });
    await expectCollected(running).toEqual([['migrated', 1]]);
    await uninstall();
  });
});
