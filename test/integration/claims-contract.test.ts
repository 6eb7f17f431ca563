import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchObjects } from '#controller/cluster-view/object-view.ts';
import { projectPools } from '#controller/project/project-pools.ts';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, CLUSTERS } from '#pkg/kube/objects/capi-resources.ts';
import { NAMESPACES } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { around } from '#test/support/mortal-client.ts';
import { type ClaimStage, NAMESPACE, PATIENCE, readyOf, startClaimStage } from './claim-stage.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { sure } from './spider-objects.ts';

/** The sentences of the contract (seed 003), with their numbers. Those that are not here are in claims.test.ts. */
let stage: ClaimStage;
let pool: KubeObject;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  await stage.clear();
  await stage.capiCluster('blue');
  pool = await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
});

async function serveOne() {
  const leader = stage.lead();
  const claim = await stage.claim('vm-0', { cluster: 'blue' });
  await stage.served('vm-0');
  const address = await stage.address('vm-0');
  if (address === null) throw new Error('no IPAddress');
  return { claim, address, [Symbol.asyncDispose]: () => leader[Symbol.asyncDispose]() };
}

const untilGone = () =>
  vi.waitFor(async () => {
    expect(await stage.admin.get(CLAIMS, { namespace: NAMESPACE, name: 'vm-0' })).toMatchObject({
      because: 'NotFound',
    });
  }, PATIENCE);

describe('Overview', () => {
  test('IPAM providers are optional: a claim for the pool of none of ours, and a cluster without a claim, are left alone', async () => {
    await using _leader = stage.lead();
    const foreign = await stage.claim('vm-0', { cluster: 'blue', poolRef: { apiGroup: 'infra.test', kind: 'Pool' } });
    const cluster = await sure(stage.admin.get(CLUSTERS, { namespace: NAMESPACE, name: 'blue' }));
    await stage.claim('later', { cluster: 'blue' });
    await stage.served('later');
    expect((await stage.get('vm-0')).metadata.resourceVersion).toBe(foreign.metadata.resourceVersion);
    const now = await sure(stage.admin.get(CLUSTERS, { namespace: NAMESPACE, name: 'blue' }));
    expect(now.metadata.resourceVersion).toBe(cluster.metadata.resourceVersion);
  });

  test('The IPAM provider is responsible for the IP addresses of machines: the record of each says whose it is', async () => {
    await using one = await serveOne();
    const holder = { kind: 'IPAddressClaim', namespace: NAMESPACE, name: 'vm-0', uid: one.claim.metadata.uid };
    expect((await stage.ledger.get('10.0.0.5'))?.spec).toMatchObject({ state: 'Allocated', holder });
  });

  test('The contract is single-stack: for v4 and v6, two pools and two claims are necessary', async () => {
    await stage.pool('six', ['fd00::5'], { subnet: 'fd00::/64' });
    await using _leader = stage.lead();
    await stage.claim('vm-0-v4');
    await stage.claim('vm-0-v6', { pool: 'six' });
    expect([await stage.served('vm-0-v4'), await stage.served('vm-0-v6')]).toEqual(['10.0.0.5', 'fd00::5']);
  });
});

describe('Data Types', () => {
  test('An IPAM provider must define one or more API types for IP address pools: SpiderIPPool, which its CRDs bring', async () => {
    const kinds = await sure(stage.admin.kindsOf(POOLS));
    expect(kinds.map(({ resource }) => resource.kind)).toContain('SpiderIPPool');
  });

  test('4.1 Ready can be based on the summary of more detailed conditions: a full pool is Exhausted, and Ready all the same', async () => {
    await using stack = new AsyncDisposableStack();
    const client = stage.cluster.controller();
    const views = stack.use(watchAsLeader(client));
    const always = { isLeader: () => true, now: () => new Date(), nodeCount: () => 1 };
    stack.use(projectPools({ client, log: silent, ...always, ...views }));
    await sure(stage.admin.patch(POOLS, { name: 'lab' }, { spec: { ips: ['10.0.0.5'] } }));
    await using _one = await serveOne();
    await vi.waitFor(async () => {
      const { status } = await sure(stage.admin.get(POOLS, { name: 'lab' }));
      const { conditions } = status as { conditions: { type: string; status: string }[] };
      expect(conditions.map((it) => `${it.type} ${it.status}`).sort()).toEqual(['Exhausted True', 'Ready True']);
    }, PATIENCE);
  });

  test('4.1 A Ready condition represents the overall operational state of the pool, and claims are among its counts', async () => {
    await using stack = new AsyncDisposableStack();
    const client = stage.cluster.controller();
    const views = stack.use(watchAsLeader(client));
    const always = { isLeader: () => true, now: () => new Date(), nodeCount: () => 1 };
    stack.use(projectPools({ client, log: silent, ...always, ...views }));
    await using _one = await serveOne();
    const read = () => sure(stage.admin.get(POOLS, { name: 'lab' }));
    await vi.waitFor(async () => {
      const found = await read();
      expect(readyOf(found)).toMatchObject({ status: 'True', observedGeneration: found.metadata.generation });
      expect(found['status']).toMatchObject({ totalIPCount: 5, allocatedIPCount: 1 });
    }, PATIENCE);
    await sure(stage.admin.patch(POOLS, { name: 'lab' }, { spec: { disable: true } }));
    await vi.waitFor(async () => expect(readyOf(await read())).toMatchObject({ status: 'False' }), PATIENCE);
  });
});

describe('IPAM Provider: must watch for new, updated and deleted claims', () => {
  test('It must handle any claim that references a pool of its own, of any namespace, and create an IPAddress for it', async () => {
    const other = 'tenant';
    await sure(stage.admin.create(NAMESPACES, { metadata: { name: other } }));
    await using _one = await serveOne();
    await stage.claim('vm-0', { namespace: other });
    expect(await stage.served('vm-0', other)).toBe('10.0.0.6');
    const at = { namespace: other, name: 'vm-0' };
    const { uid } = (await sure(stage.admin.get(CLAIMS, at))).metadata;
    await sure(stage.admin.delete(CLAIMS, { ...at, uid }));
    await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.0.5']), PATIENCE);
  });

  test('It must watch for updated claims: one that is no longer paused is served', async () => {
    await using _leader = stage.lead();
    await stage.claim('vm-0', { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
    await stage.claim('later');
    await stage.served('later');
    expect(await stage.address('vm-0')).toBeNull();
    const go = { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } };
    await sure(stage.admin.patch(CLAIMS, { namespace: NAMESPACE, name: 'vm-0' }, go));
    expect(await stage.served('vm-0')).toBe('10.0.0.6');
  });

  test('2.2 If the paused field is empty and the annotation is not present, reconciliation can continue', async () => {
    await using one = await serveOne();
    expect(one.address.metadata.name).toBe('vm-0');
  });

  test('3. Add any required provider-specific finalizers', async () => {
    await using _one = await serveOne();
    expect((await stage.get('vm-0')).metadata.finalizers).toEqual([CLAIM_FINALIZER]);
  });

  test('4. Allocate an IP address for the claim: the lowest one that is free, and never one address twice', async () => {
    await using _one = await serveOne();
    const names = ['vm-1', 'vm-2', 'vm-3', 'vm-4'];
    for (const name of names) await stage.claim(name);
    const addresses = await Promise.all(names.map((name) => stage.served(name)));
    expect(addresses.sort()).toEqual(['10.0.0.6', '10.0.0.7', '10.0.0.8', '10.0.0.9']);
    expect(await stage.records()).toHaveLength(5);
  });

  test('5.1 Create an IPAddress object; it should have the same name as the claim', async () => {
    await using one = await serveOne();
    expect(one.address['spec']).toMatchObject({
      claimRef: { name: 'vm-0' },
      poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' },
      address: '10.0.0.5',
      prefix: 16,
    });
  });

  test('5.2 It must have a owner reference with controller: true and blockOwnerDeletion: true to the Claim', async () => {
    await using one = await serveOne();
    const { uid } = one.claim.metadata;
    expect(one.address.metadata.ownerReferences).toContainEqual({
      apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
      kind: 'IPAddressClaim',
      name: 'vm-0',
      uid,
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  test('5.3 It must have a owner reference with controller: false and blockOwnerDeletion: true to the referenced Pool', async () => {
    await using one = await serveOne();
    expect(one.address.metadata.ownerReferences).toContainEqual({
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderIPPool',
      name: 'lab',
      uid: pool.metadata.uid,
      controller: false,
      blockOwnerDeletion: true,
    });
  });

  test('5.4 It should have a Finalizer that prevents accidental deletion', async () => {
    await using one = await serveOne();
    expect(one.address.metadata.finalizers).toEqual([ADDRESS_FINALIZER]);
  });

  test('6. Set the status.addressRef on the IPAddressClaim to the created IPAddress, and the Ready condition', async () => {
    await using _one = await serveOne();
    const served = await stage.get('vm-0');
    expect(served['status']).toMatchObject({ addressRef: { name: 'vm-0' } });
    expect(readyOf(served)).toMatchObject({ status: 'True', observedGeneration: served.metadata.generation });
  });

  test('The IPAddress is unchanged for the life of the claim, whatever becomes of its pool', async () => {
    await using one = await serveOne();
    await sure(stage.admin.patch(POOLS, { name: 'lab' }, { spec: { ips: ['10.0.0.9'], gateway: '10.0.0.1' } }));
    await stage.claim('later');
    expect(await stage.served('later')).toBe('10.0.0.9');
    const now = await stage.address('vm-0');
    expect([now?.metadata.uid, now?.['spec']]).toEqual([one.address.metadata.uid, one.address['spec']]);
  });
});

describe('Deleted IPAddressClaim', () => {
  test('2. Deallocate the IP address', async () => {
    await using one = await serveOne();
    await stage.remove(one.claim);
    await untilGone();
    expect(await stage.records()).toEqual([]);
  });

  test('3. Delete the IPAddress object; 3.1 remove any Finalizers that were set to prevent deletion', async () => {
    await using one = await serveOne();
    await stage.remove(one.claim);
    await untilGone();
    expect(await stage.address('vm-0')).toBeNull();
  });

  test('4. Remove the Finalizer from the claim, last of all', async () => {
    const leftAtTheEnd: unknown[] = [];
    const client = around(stage.cluster.controller(), async (verb, call, [kind, , body]) => {
      const { finalizers } = ((body ?? {}) as { metadata?: { finalizers?: string[] } }).metadata ?? {};
      const isEnd = verb === 'patch' && kind === CLAIMS && finalizers?.includes(CLAIM_FINALIZER) === false;
      if (isEnd) leftAtTheEnd.push([await stage.records(), await stage.address('vm-0')]);
      return call();
    });
    await using _leader = stage.lead({ client });
    const claim = await stage.claim('vm-0', { cluster: 'blue' });
    await stage.served('vm-0');
    await stage.remove(claim);
    await untilGone();
    expect(leftAtTheEnd).toEqual([[[], null]]);
  });
});

describe('Clusterctl Move', () => {
  const labelsOf = async (name: string) => (await sure(stage.admin.get(POOLS, { name }))).metadata.labels ?? {};
  const MARK = 'clusterctl.cluster.x-k8s.io/move-hierarchy';

  test('In order for Pools to be moved alongside clusters, they need to have a cluster-name label', async () => {
    const labels = { 'cluster.x-k8s.io/cluster-name': 'blue' };
    await stage.pool('labelled', ['10.0.1.5'], {}, { labels });
    await using _one = await serveOne();
    await vi.waitFor(async () => expect(await labelsOf('labelled')).toEqual({ ...labels, [MARK]: '' }), PATIENCE);
  });

  test('Here an IPAddress is enough: its pool has the label that clusterctl looks for; a pool that only has a claim without one has not', async () => {
    await stage.pool('pods', ['10.0.1.5'], { namespaceName: ['other'] });
    await using _one = await serveOne();
    await stage.claim('greedy', { pool: 'pods' });
    await stage.says('greedy', 'False/PoolNotReady');
    await vi.waitFor(async () => expect(await labelsOf('lab')).toEqual({ [MARK]: '' }), PATIENCE);
    expect(await labelsOf('pods')).toEqual({});
  });
});

describe('Infrastructure Provider', () => {
  const MACHINE = { apiVersion: 'infra.test/v1', kind: 'TestMachine', name: 'worker-abc', uid: 'machine-uid' };

  /** 1.1 references the pool, 1.2 is owned by the machine, 1.3 names the cluster, 1.4 is named after the machine. */
  const createClaim = () =>
    stage.claim('worker-abc-0', {
      pool: 'lab',
      cluster: 'blue',
      metadata: { ownerReferences: [{ ...MACHINE, controller: true, blockOwnerDeletion: true }] },
    });

  test('1.1 to 1.4 The claim of the fixture is as the contract asks: pool, owner with both flags, cluster, name of the machine', async () => {
    expect(await createClaim()).toMatchObject({
      metadata: {
        name: expect.stringMatching(new RegExp(`^${MACHINE.name}-`)),
        ownerReferences: [{ kind: 'TestMachine', name: MACHINE.name, controller: true, blockOwnerDeletion: true }],
      },
      spec: { poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' }, clusterName: 'blue' },
    });
  });

  test('When the infrastructure Machine is deleted, the claim should be deleted as well: so the garbage collector does in the foreground', async () => {
    await using _leader = stage.lead();
    const claim = await createClaim();
    const name = claim.metadata.name;
    await stage.served(name);
    // What Kubernetes does when the machine is deleted in the foreground: the claim goes in the foreground too.
    const finalizers = [CLAIM_FINALIZER, 'foregroundDeletion'];
    await sure(stage.admin.patch(CLAIMS, { namespace: NAMESPACE, name }, { metadata: { finalizers } }));
    await stage.remove(claim);
    await vi.waitFor(async () => {
      expect([await stage.records(), await stage.address(name)]).toEqual([[], null]);
      expect((await stage.get(name)).metadata.finalizers).toEqual(['foregroundDeletion']);
    }, PATIENCE);
    await sure(stage.admin.patch(CLAIMS, { namespace: NAMESPACE, name }, { metadata: { finalizers: null } }));
  });

  test('1. Create an IPAddressClaim; 2. wait for status.addressRef by watching the claim; 3. fetch the IPAddress that it names', async () => {
    await using _leader = stage.lead();
    const named = Promise.withResolvers<string>();
    await using view = watchObjects(stage.admin, { resource: CLAIMS, onTrouble: () => {} });
    using _watch = view.onChange((at) => {
      const { addressRef } = (view.get(at)?.['status'] ?? {}) as { addressRef?: { name: string } };
      if (addressRef !== undefined) named.resolve(addressRef.name);
    });
    await view.synced;
    const claim = await createClaim();
    const address = await stage.address(await named.promise);
    expect(address).toMatchObject({ spec: { address: '10.0.0.5', claimRef: { name: claim.metadata.name } } });
    // What the provider wrote is as it was: the move and the deletion of the machine rest on it.
    const now = await stage.get(claim.metadata.name);
    expect([now.metadata.ownerReferences, now['spec']]).toEqual([claim.metadata.ownerReferences, claim['spec']]);
  });

  test('The deletion of the machine is blocked until the claim is deleted: our finalizer goes only when the address is given back', async () => {
    await using _leader = stage.lead();
    const claim = await createClaim();
    await stage.served(claim.metadata.name);
    const left: string[] = [];
    const gone = Promise.withResolvers<void>();
    await using view = watchObjects(stage.admin, { resource: CLAIMS, onTrouble: () => {} });
    await view.synced;
    using _watch = view.onChange((at) => {
      if (view.get(at) !== null) return;
      void stage.records().then((records) => {
        left.push(...records);
        gone.resolve();
      }, gone.reject);
    });
    await stage.remove(claim);
    await gone.promise;
    expect(left).toEqual([]);
  });
});
