import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { type ClaimStage, claimOf, NAMESPACE, PATIENCE, readyOf, startClaimStage } from './claim-stage.ts';
import { expectNoLists, expectNoReads, tallyRequests } from './request-tally.ts';
import { sure } from './spider-objects.ts';

const PAUSED = 'cluster.x-k8s.io/paused';
let stage: ClaimStage;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const patch = (kind: typeof CLAIMS, name: string, body: Record<string, unknown>) => {
  const namespace = kind === POOLS ? {} : { namespace: NAMESPACE };
  return sure(stage.admin.patch(kind, { ...namespace, name }, body));
};
const untilGone = (name: string) =>
  vi.waitFor(async () => {
    expect(await stage.admin.get(CLAIMS, { namespace: NAMESPACE, name })).toMatchObject({ because: 'NotFound' });
    expect(await stage.address(name)).toBeNull();
  }, PATIENCE);
/** Nothing was written for the claim while another one, which came later, was served. */
const expectUntouched = async (name: string) => {
  await stage.claim('later');
  await stage.served('later');
  expect((await stage.get(name)).metadata.finalizers ?? []).toEqual([]);
  expect((await stage.get(name))['status']).toBeUndefined();
};

test('a claim gets the lowest free address, an IPAddress of its name and a condition; deleted, all of it comes back', async () => {
  const pool = await stage.pool('lab', ['10.0.0.5-10.0.0.9'], { gateway: '10.0.0.1' });
  await stage.capiCluster('blue');
  await using _leader = stage.lead();
  const claim = await stage.claim('vm-0', { cluster: 'blue' });
  expect(await stage.served('vm-0')).toBe('10.0.0.5');
  const served = await stage.get('vm-0');
  expect(served.metadata.finalizers).toEqual([CLAIM_FINALIZER]);
  expect(readyOf(served)).toMatchObject({ reason: 'Ready', observedGeneration: served.metadata.generation });
  expect(await stage.address('vm-0')).toMatchObject({
    metadata: {
      finalizers: [ADDRESS_FINALIZER],
      labels: { 'cluster.x-k8s.io/cluster-name': 'blue' },
      ownerReferences: [
        { kind: 'IPAddressClaim', name: 'vm-0', uid: claim.metadata.uid, controller: true, blockOwnerDeletion: true },
        { kind: 'SpiderIPPool', name: 'lab', uid: pool.metadata.uid, controller: false, blockOwnerDeletion: true },
      ],
    },
    spec: {
      claimRef: { name: 'vm-0' },
      poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' },
      address: '10.0.0.5',
      prefix: 16,
      gateway: '10.0.0.1',
    },
  });
  await stage.remove(claim);
  await untilGone('vm-0');
  expect(await stage.records()).toEqual([]);
});

describe('Data Types', () => {
  const crd = async () => {
    const path = {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      plural: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
    };
    return sure(stage.admin.get(path, { name: 'spiderippools.spiderpool.spidernet.io' }));
  };

  test('1. The pool type belongs to an API group that is served; 2. it is a CRD named plural(lowercase kind) and group', async () => {
    const { spec } = (await crd()) as unknown as { spec: { group: string; names: { kind: string; plural: string } } };
    expect(spec).toMatchObject({
      group: 'spiderpool.spidernet.io',
      names: { kind: 'SpiderIPPool', plural: 'spiderippools' },
    });
    expect(await stage.admin.list(POOLS)).toMatchObject({ ok: true });
  });

  test('3. It has type and object metadata; 4. its status has conditions, Ready among them', async () => {
    await stage.pool('lab', ['10.0.0.5']);
    await sure(
      stage.admin.patch(
        POOLS,
        { name: 'lab' },
        {
          status: {
            conditions: [
              {
                type: 'Ready',
                status: 'True',
                reason: 'Serving',
                message: '',
                lastTransitionTime: '2026-11-18T16:00:00Z',
              },
            ],
          },
        },
        { subresource: 'status' },
      ),
    );
    const pool = await sure(stage.admin.get(POOLS, { name: 'lab' }));
    expect(pool).toMatchObject({
      kind: 'SpiderIPPool',
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      metadata: { name: 'lab' },
    });
    expect(readyOf(pool)).toMatchObject({ status: 'True' });
  });
});

describe('IPAM Provider, Normal IPAddressClaim', () => {
  beforeEach(async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  });

  test.each([
    { name: 'a foreign group', poolRef: { apiGroup: 'ipam.cluster.x-k8s.io' } },
    { name: 'an unknown kind', poolRef: { kind: 'SpiderSubnet' } },
  ])('1. If the claim does not reference a pool managed by the provider ($name), abort', async ({ poolRef }) => {
    await using _leader = stage.lead();
    await stage.claim('vm-0', { poolRef });
    await expectUntouched('vm-0');
  });

  test('1. A claim with an empty group is refused by the API server itself', async () => {
    expect(await stage.admin.create(CLAIMS, claimOf('vm-0', { poolRef: { apiGroup: '' } }))).toMatchObject({
      because: 'Invalid',
    });
  });

  test('2.1 The Cluster is referenced by spec.clusterName; 2.3 if it is not found, abort; created, go on', async () => {
    await using _leader = stage.lead();
    await stage.claim('vm-0', { cluster: 'blue', metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'red' } } });
    await stage.capiCluster('red');
    await wait(1_500);
    expect((await stage.get('vm-0')).metadata.finalizers).toBeUndefined();
    await stage.capiCluster('blue');
    expect(await stage.served('vm-0')).toBe('10.0.0.5');
  });

  test('2.1 or by the label, and its name goes to the IPAddress', async () => {
    await stage.capiCluster('red', true);
    await using _leader = stage.lead();
    await stage.claim('vm-0', { metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'red' } } });
    await wait(1_000);
    expect((await stage.get('vm-0')).metadata.finalizers).toBeUndefined();
    await patch(CLUSTERS, 'red', { spec: { paused: false } });
    await stage.served('vm-0');
    expect((await stage.address('vm-0'))?.metadata.labels).toEqual({ 'cluster.x-k8s.io/cluster-name': 'red' });
  });

  test.each([
    { name: 'spec.paused', pause: { spec: { paused: true } }, go: { spec: { paused: false } } },
    {
      name: 'the annotation, also without a value',
      pause: { metadata: { annotations: { [PAUSED]: '' } } },
      go: { metadata: { annotations: { [PAUSED]: null } } },
    },
  ])('2.4 If the cluster is paused by $name, skip; un-paused, go on', async ({ pause, go }) => {
    await stage.capiCluster('blue');
    await patch(CLUSTERS, 'blue', pause);
    await using _leader = stage.lead();
    await stage.claim('vm-0', { cluster: 'blue' });
    await wait(1_000);
    expect((await stage.get('vm-0')).metadata.finalizers).toBeUndefined();
    await patch(CLUSTERS, 'blue', go);
    await stage.served('vm-0');
  });

  test.each([
    { kind: CLAIMS, name: 'vm-0' },
    { kind: POOLS, name: 'lab' },
  ])('a pause of the $kind.kind is kept inside of the reconcile; un-paused, it goes on', async ({ kind, name }) => {
    await using _leader = stage.lead();
    const claim = claimOf('vm-0', { metadata: { annotations: { [PAUSED]: '' } } });
    if (kind === POOLS) await patch(POOLS, 'lab', { metadata: { annotations: { [PAUSED]: '' } } });
    await sure(stage.admin.create(CLAIMS, kind === POOLS ? claimOf('vm-0') : claim));
    // An edit of the pool wakes every claim of it.
    await patch(POOLS, 'lab', { spec: { ips: ['10.0.0.6-10.0.0.9'] } });
    await wait(1_000);
    expect((await stage.get('vm-0')).metadata.finalizers).toBeUndefined();
    await patch(kind, name, { metadata: { annotations: { [PAUSED]: null } } });
    expect(await stage.served('vm-0')).toBe('10.0.0.6');
  });

  test('an IPAddress that is deleted by hand comes back with the same address, also when the pool has changed', async () => {
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    await stage.served('vm-0');
    const before = await stage.address('vm-0');
    await patch(POOLS, 'lab', { spec: { ips: ['10.0.0.7'], gateway: '10.0.0.1' } });
    const seen = { namespace: NAMESPACE, name: 'vm-0', uid: before?.metadata.uid ?? '' };
    await sure(stage.admin.delete(IP_ADDRESSES, seen));
    await vi.waitFor(async () => {
      const after = await stage.address('vm-0');
      expect(after?.metadata.uid).not.toBe(seen.uid);
      expect(after?.metadata.deletionTimestamp).toBeUndefined();
      expect(after?.['spec']).toEqual(before?.['spec']);
    }, PATIENCE);
    expect(await stage.records()).toEqual(['10.0.0.5']);
  });

  test('a record that is deleted by hand while its machine lives comes back', async () => {
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    await stage.served('vm-0');
    const record = await stage.ledger.get('10.0.0.5');
    if (record === null) throw new Error('no record');
    await stage.ledger.release(record);
    await vi.waitFor(async () => {
      const now = await stage.ledger.get('10.0.0.5');
      expect(now?.uid).not.toBe(record.uid);
      expect(now?.spec).toEqual(record.spec);
    }, PATIENCE);
  });

  test('a claim of v1beta1 is served like any other (here the API server converts without the core webhook)', async () => {
    await using _leader = stage.lead();
    const old = { ...CLAIMS, version: 'v1beta1' };
    await sure(stage.admin.create(old, claimOf('vm-0')));
    await stage.served('vm-0');
    expect((await sure(stage.admin.get(old, { namespace: NAMESPACE, name: 'vm-0' })))['status']).toMatchObject({
      addressRef: { name: 'vm-0' },
    });
  });

  test('IPv6 is written as RFC 5952 has it, and a prefix of 0 is written', async () => {
    await using _leader = stage.lead();
    await stage.pool('six', ['fd00:0:0::a'], { subnet: 'fd00::/64' });
    await stage.pool('all', ['192.0.2.7'], { subnet: '0.0.0.0/0' });
    await stage.claim('vm-6', { pool: 'six' });
    await stage.claim('vm-0', { pool: 'all' });
    expect(await stage.served('vm-6')).toBe('fd00::a');
    await stage.served('vm-0');
    expect((await stage.address('vm-0'))?.['spec']).toMatchObject({ address: '192.0.2.7', prefix: 0 });
  });
});

describe('IPAM Provider, Deleted IPAddressClaim', () => {
  beforeEach(async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
    await stage.capiCluster('blue');
  });
  const servedClaim = async () => {
    const claim = await stage.claim('vm-0', { cluster: 'blue' });
    await stage.served('vm-0');
    return claim;
  };
  const pauseCluster = (paused: boolean) => patch(CLUSTERS, 'blue', { spec: { paused } });

  test('1. If the related Cluster is paused, abort; un-paused, the address is given back', async () => {
    await using _leader = stage.lead();
    const claim = await servedClaim();
    await pauseCluster(true);
    await stage.remove(claim);
    await wait(1_500);
    expect(await stage.records()).toEqual(['10.0.0.5']);
    expect((await stage.address('vm-0'))?.metadata.finalizers).toEqual([ADDRESS_FINALIZER]);
    await pauseCluster(false);
    await untilGone('vm-0');
    expect(await stage.records()).toEqual([]);
  });

  test('the cluster may be gone before its claims', async () => {
    await using _leader = stage.lead();
    const claim = await servedClaim();
    const { metadata } = await sure(stage.admin.get(CLUSTERS, { namespace: NAMESPACE, name: 'blue' }));
    await sure(stage.admin.delete(CLUSTERS, { namespace: NAMESPACE, name: 'blue', uid: metadata.uid }));
    await wait(500);
    await stage.remove(claim);
    await untilGone('vm-0');
    expect(await stage.records()).toEqual([]);
  });

  test('finalizers of others on claim and IPAddress are respected: the address stays until they are gone', async () => {
    await using _leader = stage.lead();
    const claim = await servedClaim();
    const hold = (kind: typeof CLAIMS, finalizers: string[]) => patch(kind, 'vm-0', { metadata: { finalizers } });
    await hold(CLAIMS, [CLAIM_FINALIZER, 'infra.test/in-use']);
    await hold(IP_ADDRESSES, [ADDRESS_FINALIZER, 'infra.test/in-use']);
    await stage.remove(claim);
    await wait(1_000);
    expect((await stage.address('vm-0'))?.metadata.deletionTimestamp).toBeUndefined();
    await hold(CLAIMS, [CLAIM_FINALIZER]);
    await vi.waitFor(
      async () => expect((await stage.address('vm-0'))?.metadata.deletionTimestamp).toBeDefined(),
      PATIENCE,
    );
    expect(await stage.records()).toEqual(['10.0.0.5']);
    await hold(IP_ADDRESSES, [ADDRESS_FINALIZER]);
    await untilGone('vm-0');
    expect(await stage.records()).toEqual([]);
  });

  test('it may be deleted in the foreground: the garbage collector takes its reference from the IPAddress, and all of it goes', async () => {
    await using _leader = stage.lead();
    const claim = await servedClaim();
    await pauseCluster(true);
    await stage.claim('later');
    await stage.served('later');
    // What Kubernetes does, which has no garbage collector here: another owner is left, so the IPAddress is not deleted.
    await patch(CLAIMS, 'vm-0', { metadata: { finalizers: [CLAIM_FINALIZER, 'foregroundDeletion'] } });
    await stage.remove(claim);
    const owners = (await stage.address('vm-0'))?.metadata.ownerReferences as { kind: string }[];
    const ownerReferences = owners.filter(({ kind }) => kind !== 'IPAddressClaim');
    await patch(IP_ADDRESSES, 'vm-0', { metadata: { ownerReferences } });
    await patch(CLAIMS, 'vm-0', { metadata: { finalizers: [CLAIM_FINALIZER] } });
    await pauseCluster(false);
    await untilGone('vm-0');
    await stage.claim('last');
    expect(await stage.served('last')).toBe('10.0.0.5');
    expect(await stage.records()).toEqual(['10.0.0.5', '10.0.0.6']);
  });

  test.each([
    {
      name: 'pool',
      take: () => patch(POOLS, 'lab', { metadata: { finalizers: null } }).then((pool) => stage.remove(pool)),
    },
    {
      name: 'record',
      take: async () => {
        const record = await stage.ledger.get('10.0.0.5');
        if (record !== null) await stage.ledger.release(record);
      },
    },
    {
      name: 'IPAddress',
      take: async () => {
        const { metadata } = await patch(IP_ADDRESSES, 'vm-0', { metadata: { finalizers: null } });
        await sure(stage.admin.delete(IP_ADDRESSES, { namespace: NAMESPACE, name: 'vm-0', uid: metadata.uid }));
      },
    },
  ])('a missing $name does not keep the claim', async ({ take }) => {
    await using _leader = stage.lead();
    const claim = await servedClaim();
    await pauseCluster(true);
    await stage.remove(claim);
    await take();
    await pauseCluster(false);
    await untilGone('vm-0');
    expect(await stage.records()).toEqual([]);
  });

  test('the reuse cooldown of the pool is kept', async () => {
    await patch(POOLS, 'lab', { metadata: { annotations: { 'ipledger.io/reuse-cooldown': '1h' } } });
    await using _leader = stage.lead();
    const claim = await servedClaim();
    await stage.remove(claim);
    await untilGone('vm-0');
    expect((await stage.ledger.get('10.0.0.5'))?.spec).toMatchObject({ state: 'Cooling', until: expect.any(String) });
    await stage.claim('vm-1');
    expect(await stage.served('vm-1')).toBe('10.0.0.6');
  });

  test('a claim whose finalizer was stripped is gone: its address is kept, and the record says which command ends it', async () => {
    const leader = stage.lead();
    await using _leader = leader;
    const claim = await servedClaim();
    await pauseCluster(true);
    await stage.remove(claim);
    await patch(CLAIMS, 'vm-0', { metadata: { finalizers: null } });
    const reported = () => leader.told.filter(({ reason }) => reason === 'ClaimVanished').map(({ note }) => note);
    await vi.waitFor(
      () => expect(reported()).toEqual([expect.stringContaining('ipledgerctl release 10.0.0.5')]),
      PATIENCE,
    );
    expect(await stage.records()).toEqual(['10.0.0.5']);
  });

  test('an IPAddress that was deleted first goes when its claim vanishes; its record stays', async () => {
    const serve = async () => {
      await using _first = stage.lead();
      return await servedClaim();
    };
    const claim = await serve();
    await pauseCluster(true);
    const { uid = '' } = (await stage.address('vm-0'))?.metadata ?? {};
    await sure(stage.admin.delete(IP_ADDRESSES, { namespace: NAMESPACE, name: 'vm-0', uid }));
    await using _leader = stage.lead();
    await stage.claim('later');
    await stage.served('later');
    expect((await stage.address('vm-0'))?.metadata.finalizers).toEqual([ADDRESS_FINALIZER]);
    await stage.remove(claim);
    await patch(CLAIMS, 'vm-0', { metadata: { finalizers: null } });
    await untilGone('vm-0');
    expect(await stage.records()).toContain('10.0.0.5');
  });
});

describe('a claim that waits', () => {
  test.each([
    { name: 'created', before: async () => {}, after: () => stage.pool('lab', ['10.0.0.5']) },
    {
      name: 'enabled',
      before: () => stage.pool('lab', ['10.0.0.5'], { disable: true }),
      after: () => patch(POOLS, 'lab', { spec: { disable: false } }),
    },
    {
      name: 'opened to the namespace',
      before: () => stage.pool('lab', ['10.0.0.5'], { namespaceName: ['other'] }),
      after: () => patch(POOLS, 'lab', { spec: { namespaceName: [NAMESPACE] } }),
    },
    {
      name: 'no longer reserved for pods',
      before: () => stage.pool('lab', ['10.0.0.5'], { podAffinity: { matchLabels: { app: 'web' } } }),
      after: () => patch(POOLS, 'lab', { spec: { podAffinity: null } }),
    },
  ])('for its pool says PoolNotReady, and is served when the pool is $name', async ({ before, after }) => {
    await before();
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    await stage.says('vm-0', 'False/PoolNotReady');
    await after();
    expect(await stage.served('vm-0')).toBe('10.0.0.5');
  });

  test('for a terminating pool says so', async () => {
    await stage.pool('lab', ['10.0.0.5'], {}, { finalizers: ['spiderpool.spidernet.io'] }).then(stage.remove);
    const leader = stage.lead();
    await using _leader = leader;
    await stage.claim('vm-0');
    expect(await stage.says('vm-0', 'False/PoolNotReady')).toContain('Terminating');
    const told = [{ reason: 'PoolNotReady', regarding: { kind: 'IPAddressClaim', name: 'vm-0' } }];
    // It is told once the answer to the write of the condition is here.
    await vi.waitFor(() => expect(leader.told).toMatchObject(told), PATIENCE);
  });

  test('for an address says how many are in use and how many claims wait, and is served when the pool grows', async () => {
    await stage.pool('lab', ['10.0.0.5']);
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    await stage.served('vm-0');
    await stage.claim('vm-1');
    expect(await stage.says('vm-1', 'False/PoolExhausted')).toBe(
      'pool lab is exhausted: 1/1 addresses are in use (10.0.0.5 by IPAddressClaim default/vm-0), 1 claim waits',
    );
    await patch(POOLS, 'lab', { spec: { ips: ['10.0.0.5-10.0.0.6'] } });
    expect(await stage.served('vm-1')).toBe('10.0.0.6');
  });

  test('for an address gets the one that a pod gives back, the oldest claim first', async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.6']);
    const pods = await Promise.all(
      ['10.0.0.5', '10.0.0.6'].map(async (address) => (await stage.ledger.create(specOf(address))).record),
    );
    await using _leader = stage.lead();
    for (const name of ['z-first', 'a-second', 'm-third']) {
      await stage.claim(name);
      await stage.says(name, 'False/PoolExhausted');
      await wait(1_100); // creation times have whole seconds
    }
    for (const [index, name] of ['z-first', 'a-second'].entries()) {
      const record = pods[index];
      if (record == null) throw new Error('no record');
      await stage.ledger.release(record);
      expect(await stage.served(name)).toBe(record.spec.address);
    }
    expect(readyOf(await stage.get('m-third'))['reason']).toBe('PoolExhausted');
  });

  test('with a hundred others: one address that comes back costs the writes of one claim', async () => {
    await stage.pool('lab', ['10.0.0.5']);
    const pod = (await stage.ledger.create(specOf('10.0.0.5'))).record;
    await using _leader = stage.lead();
    const names = Array.from({ length: 100 }, (_, at) => `vm-${at}`);
    // The first in line: creation times have whole seconds, and those at once come in any order.
    await stage.claim('vm-0');
    await Promise.all(names.slice(1).map((name) => stage.claim(name)));
    // One list for all: a hundred that ask for themselves would keep the API server busy.
    await vi.waitFor(
      async () => {
        const { items } = await sure(stage.admin.list(CLAIMS, { namespace: NAMESPACE }));
        expect(items.filter((claim) => readyOf(claim)['reason'] === 'PoolExhausted')).toHaveLength(100);
      },
      { timeout: 120_000, interval: 500 },
    );
    const { settled, afterWrites } = tallyRequests(stage.cluster.server, ['ipaddressclaims'], []);
    const before = (await settled()).writes;
    // Its creation, the finalizer and the status of each.
    expect(before).toBeGreaterThanOrEqual(300);
    if (pod !== null) await stage.ledger.release(pod);
    await stage.served('vm-0');
    expect((await afterWrites(before + 1)).writes).toBe(before + 1);
  });
});

test('4 writes and no reads for a claim, 4 writes and one shared read for its end', async () => {
  await stage.pool('lab', ['10.0.1.0-10.0.1.255']);
  await stage.capiCluster('blue');
  await using _leader = stage.lead();
  await stage.claim('warm-up', { cluster: 'blue' });
  await stage.served('warm-up');
  const written = ['ipaddressclaims', 'ipaddresses', 'iprecords'];
  const { settled, afterWrites } = tallyRequests(stage.cluster.server, written, ['clusters']);
  const names = Array.from({ length: 50 }, (_, at) => `vm-${at}`);
  const before = await settled();
  // The creation of the claims is ours too.
  const filled = before.writes + 50 * (1 + 4);
  const claims = await Promise.all(names.map((name) => stage.claim(name, { cluster: 'blue' })));
  const filled50 = await afterWrites(filled);
  expect(filled50.writes).toBe(filled);
  expectNoReads(filled50, before);
  expect(new Set(await stage.servedAll(names)).size).toBe(50);

  // Deleted while their cluster is paused: the leader has seen all of them when it goes on, however slow the deletions were.
  await patch(CLUSTERS, 'blue', { spec: { paused: true } });
  await stage.claim('after-pause');
  await stage.served('after-pause');
  await Promise.all(claims.map((claim) => stage.remove(claim)));
  await stage.claim('after-deletions');
  await stage.served('after-deletions');
  const full = await settled();
  await patch(CLUSTERS, 'blue', { spec: { paused: false } });
  const empty = await afterWrites(full.writes + 50 * 4);
  expect(empty.writes).toBe(full.writes + 50 * 4);
  expectNoLists(empty, full);
  const { clusters = 0, ...gets } = empty.gets;
  expect(gets).toEqual({ ...full.gets, clusters: undefined });
  expect(clusters - (full.gets['clusters'] ?? 0)).toBeLessThanOrEqual(5);
  expect(await stage.records()).toEqual(['10.0.1.0', '10.0.1.51', '10.0.1.52']);
});
