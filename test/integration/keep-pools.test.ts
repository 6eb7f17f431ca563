import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { keepPools } from '#controller/lifecycle/keep-pools.ts';
import { keepSubnets } from '#controller/lifecycle/keep-subnets.ts';
import { projectPools } from '#controller/project/project-pools.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER, POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { inState, specOf } from '#test/contract/record-spec.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { conditionsOf, eventually, poolOf, remove, removeAll, sure } from './spider-objects.ts';

const EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event' };

let cluster: LedgerCluster;
let admin: KubeClient;
let ledger: Ledger;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  admin = clientOf(cluster.server);
  ledger = openKubernetesLedger(cluster.controller());
  return async () => {
    admin[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

beforeEach(async () => {
  await cluster.clear();
  await removeAll(admin, POOLS);
  await removeAll(admin, SUBNETS);
});

const SPEC = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.4'] };

async function lead(): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const client = cluster.controller();
  const views = stack.use(watchAsLeader(client));
  const now = () => new Date();
  const context = { client, log: silent, now, isLeader: () => true, ...views };
  const events = stack.use(new EventSink(client, { reporter: 'controller', instance: 'test' }));
  stack.use(keepPools({ ...context, ledger, events }));
  stack.use(keepSubnets({ ...context, events }));
  stack.use(projectPools({ ...context, nodeCount: () => 1 }));
  await Promise.all([views.pools.synced, views.records.synced, views.subnets.synced]);
  return stack;
}

const take = async (address: string) => {
  const outcome = await ledger.create(specOf(address));
  if (!outcome.taken) throw new Error(`${address} is taken`);
  return outcome.record;
};

test.each([
  { resource: POOLS, label: 'ipam.spidernet.io/ippool-cidr' },
  { resource: SUBNETS, label: 'ipam.spidernet.io/subnet-cidr' },
])('finalizer, family and label come to $resource.plural that passed no admission, and come back', async (row) => {
  await using _ = await lead();
  await sure(admin.create(row.resource, poolOf('pool-a', SPEC)));
  const isKept = () =>
    eventually(admin, row.resource, { name: 'pool-a' }, (object) => {
      expect(object?.metadata.finalizers).toEqual([FINALIZER]);
      expect(object?.metadata.labels).toEqual({ [row.label]: '10-0-0-0-16' });
      expect(object?.['spec']).toMatchObject({ ipVersion: 4 });
    });
  await isKept();
  await sure(admin.patch(row.resource, { name: 'pool-a' }, { metadata: { finalizers: null, labels: null } }));
  await isKept();
});

test('a deleted pool stays while an address of it is held in any state, and is removed after the last one', async () => {
  await using _ = await lead();
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => expect(pool?.metadata.finalizers).toEqual([FINALIZER]));
  const first = await take('10.0.0.1');
  const second = await take('10.0.0.2');
  const retained = await ledger.amend(second, inState(second.spec, 'Retained'));
  const pool = await sure(admin.get(POOLS, { name: 'pool-a' }));
  await remove(admin, POOLS, pool);
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) =>
    expect(conditionsOf(pool)).toContain('Ready=False/Terminating'),
  );
  await ledger.amend(first, inState(first.spec, 'Cooling'));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) =>
    expect(pool?.['status']).toMatchObject({ allocatedIPCount: 1 }),
  );
  if (!retained.done) throw new Error('not retained');
  await ledger.release(retained.record);
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => expect(pool).toBeNull());
  expect(await ledger.get('10.0.0.1')).toMatchObject({ spec: { state: 'Cooling' } });
});

test('a deleted subnet is removed when its last pool is gone', async () => {
  await using _ = await lead();
  const subnet = await sure(admin.create(SUBNETS, poolOf('s', SPEC)));
  const owner = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    name: 's',
    uid: subnet.metadata.uid,
  };
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC, { ownerReferences: [owner] })));
  await sure(admin.create(POOLS, poolOf('pool-b', { ...SPEC, ips: ['10.0.0.9'] })));
  for (const [resource, name] of [
    [SUBNETS, 's'],
    [POOLS, 'pool-a'],
  ] as const) {
    await eventually(admin, resource, { name }, (object) => expect(object?.metadata.finalizers).toEqual([FINALIZER]));
  }
  await remove(admin, SUBNETS, subnet);
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => expect(conditionsOf(pool)).not.toEqual([]));
  await eventually(admin, SUBNETS, { name: 's' }, (object) => expect(object).not.toBeNull());
  await remove(admin, POOLS, await sure(admin.get(POOLS, { name: 'pool-a' })));
  await eventually(admin, SUBNETS, { name: 's' }, (object) => expect(object).toBeNull());
});

test('of overlapping pools the later one is marked with an Event, and unmarked when the earlier one is gone', async () => {
  await using _ = await lead();
  const early = await sure(admin.create(POOLS, poolOf('z-early', SPEC)));
  // Creation times have whole seconds; of the same second the name would decide.
  await vi.waitUntil(() => Date.now() > Date.parse(early.metadata.creationTimestamp ?? '') + 1_000, 10_000);
  const late = await sure(admin.create(POOLS, poolOf('a-late', { ...SPEC, ips: ['10.0.0.4-10.0.0.9'] })));
  await eventually(admin, POOLS, { name: 'a-late' }, (pool) =>
    expect(conditionsOf(pool)).toContain('Ready=False/Overlap'),
  );
  await eventually(admin, POOLS, { name: 'z-early' }, (pool) =>
    expect(conditionsOf(pool)).toContain('Ready=True/Serving'),
  );
  const eventsOf = async (uid: string) =>
    (await sure(admin.list(EVENTS, { fieldSelector: `involvedObject.uid=${uid}` }))).items;
  await vi.waitFor(async () =>
    expect(await eventsOf(late.metadata.uid)).toMatchObject([
      { reason: 'Overlap', type: 'Warning', message: expect.stringContaining('both hold 10.0.0.4;') },
    ]),
  );
  expect(await eventsOf(early.metadata.uid)).toEqual([]);
  await remove(admin, POOLS, early);
  await eventually(admin, POOLS, { name: 'a-late' }, (pool) =>
    expect(conditionsOf(pool)).toContain('Ready=True/Serving'),
  );
});

test('a pool that is older than its subnet comes under it, with its gateway', async () => {
  await using _ = await lead();
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => expect(pool?.metadata.finalizers).toHaveLength(1));
  const subnet = await sure(admin.create(SUBNETS, poolOf('s', { ...SPEC, gateway: '10.0.0.254' })));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(pool?.metadata.ownerReferences).toMatchObject([{ uid: subnet.metadata.uid, controller: true }]);
    expect(pool?.metadata.labels).toMatchObject({ 'ipam.spidernet.io/owner-spider-subnet': 's' });
    expect(pool?.['spec']).toMatchObject({ gateway: '10.0.0.254' });
  });
});
