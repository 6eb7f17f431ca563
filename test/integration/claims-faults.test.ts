import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ADDRESS_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { around, mortal } from '#test/support/mortal-client.ts';
import { type ClaimStage, LOOK_EVERY_MS, NAMESPACE, PATIENCE, startClaimStage } from './claim-stage.ts';
import { sure } from './spider-objects.ts';

let stage: ClaimStage;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

async function leadUntilDead(diesAt: number, isSent: boolean, act: () => Promise<unknown>): Promise<void> {
  const { client, died, isDead } = mortal(stage.cluster.controller(), diesAt, isSent);
  const ledger = openKubernetesLedger(client, { timeoutMs: 300, attemptTimeoutMs: 100 });
  await using _leader = stage.lead({
    client,
    ledger,
    viewClient: stage.cluster.controller(),
    isLeader: () => !isDead(),
  });
  await act();
  await died;
}

const untilGone = (name: string) =>
  vi.waitFor(async () => {
    expect(await stage.admin.get(CLAIMS, { namespace: NAMESPACE, name })).toMatchObject({ because: 'NotFound' });
    expect(await stage.address(name)).toBeNull();
  }, PATIENCE);

const DEATHS = [1, 2, 3, 4].flatMap((write) => [
  { write, when: 'before', isSent: false },
  { write, when: 'after', isSent: true },
]);

describe('a leader that is killed and followed by another one', () => {
  beforeEach(async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  });

  test.each(DEATHS)(
    '$when write $write of an allocation: one record, one IPAddress, the same address',
    async ({ write, isSent }) => {
      // It names a cluster: without one it would be taken for a claim that a move brings, and wait for a minute.
      await stage.capiCluster('blue');
      await leadUntilDead(write, isSent, () => stage.claim('vm-0', { cluster: 'blue' }));
      await using _next = stage.lead();
      expect(await stage.served('vm-0')).toBe('10.0.0.5');
      expect(await stage.records()).toEqual(['10.0.0.5']);
    },
  );

  test.each(DEATHS)('$when write $write of a deletion: nothing is left', async ({ write, isSent }) => {
    let claim: KubeObject | null = null;
    {
      await using _first = stage.lead();
      claim = await stage.claim('vm-0');
      await stage.served('vm-0');
    }
    const own = claim;
    await leadUntilDead(write, isSent, () => stage.remove(own));
    await using _next = stage.lead();
    await untilGone('vm-0');
    await vi.waitFor(async () => expect(await stage.records()).toEqual([]), PATIENCE);
  });
});

test('two leaders serve 60 claims of 60 addresses: each claim has one record, which its IPAddress names', async () => {
  await stage.pool('lab', ['10.0.0.1-10.0.0.60']);
  await using _one = stage.lead();
  await using _two = stage.lead();
  const names = Array.from({ length: 60 }, (_, at) => `vm-${at}`);
  await Promise.all(names.map((name) => stage.claim(name)));
  const addresses = await stage.servedAll(names);
  expect(new Set(addresses).size).toBe(60);
  await vi.waitFor(async () => {
    const records = await stage.ledger.list({ limit: 500 });
    const held = Object.fromEntries(records.map(({ spec }) => [spec.holder.name, spec.address]));
    expect(records).toHaveLength(60);
    expect(held).toEqual(Object.fromEntries(names.map((name, at) => [name, addresses[at]])));
  }, PATIENCE);
});

test('who loses the IPAddress to another leader gives its record back', async () => {
  await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  const client = around(stage.cluster.controller(), async (verb, call) => {
    const theirs = async () => {
      const { metadata } = await stage.get('vm-0');
      const holder = {
        kind: 'IPAddressClaim',
        namespace: NAMESPACE,
        name: 'vm-0',
        uid: metadata.uid,
        interface: '',
        node: '',
      } as const;
      await stage.ledger.create(
        heldBy(specOf('10.0.0.8', { pool: { kind: 'SpiderIPPool', name: 'lab', uid: 'u' } }), holder),
      );
      const poolRef = { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' };
      const owner = {
        apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
        kind: 'IPAddressClaim',
        name: 'vm-0',
        uid: metadata.uid,
        controller: true,
      };
      await stage.admin.create(IP_ADDRESSES, {
        metadata: { namespace: NAMESPACE, name: 'vm-0', ownerReferences: [owner] },
        spec: { claimRef: { name: 'vm-0' }, poolRef, address: '10.0.0.8', prefix: 16 },
      });
    };
    // The other leader is faster just before the IPAddress is written.
    if (verb === 'create' && (await stage.records()).includes('10.0.0.5') && (await stage.address('vm-0')) === null)
      await theirs();
    return call();
  });
  await using _leader = stage.lead({ client, ledger: stage.ledger, viewClient: stage.cluster.controller() });
  await stage.claim('vm-0');
  expect(await stage.served('vm-0')).toBe('10.0.0.8');
  await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.0.8']), PATIENCE);
  expect((await stage.address('vm-0'))?.metadata.finalizers).toEqual([ADDRESS_FINALIZER]);
});

/** 200 rounds of some ten requests each, one after the other: a machine that has much else to do needs minutes. */
const RACE_TIMEOUT_MS = 1_200_000;

test(
  'a pod and a claim race for the last address 200 times: one of them has it each time',
  async () => {
    await stage.pool('lab', ['10.0.0.5']);
    await using _leader = stage.lead();
    const winners = { pod: 0, claim: 0 };
    // The claim needs its finalizer first. How long that takes is learned: who wins gets a worse start from then on.
    let headStartMs = 30;
    for (let round = 0; round < 200; round += 1) {
      const name = `vm-${round}`;
      const [claim, pod] = await Promise.all([
        stage.claim(name),
        wait(Math.random() * headStartMs).then(() => stage.ledger.create(specOf('10.0.0.5'))),
      ]);
      winners[pod.taken ? 'pod' : 'claim'] += 1;
      headStartMs *= pod.taken ? 1.25 : 0.8;
      if (pod.taken) await stage.ledger.release(pod.record);
      expect(await stage.served(name)).toBe('10.0.0.5');
      expect(await stage.records()).toEqual(['10.0.0.5']);
      await stage.remove(claim);
      await untilGone(name);
    }
    expect(winners.claim).toBeGreaterThan(20);
    expect(winners.pod).toBeGreaterThan(20);
  },
  RACE_TIMEOUT_MS,
);

test('the core webhook is away: the IPAddress is tried again, and no second address is taken', async () => {
  await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  let failures = 3;
  const client = around(stage.cluster.controller(), async (verb, call) => {
    const isAddress = verb === 'create' && (await stage.records()).length > 0;
    if (isAddress && failures > 0) {
      failures -= 1;
      return failure('ServerError', 'failed calling webhook');
    }
    return call();
  });
  await using _leader = stage.lead({ client, ledger: stage.ledger, viewClient: stage.cluster.controller() });
  await stage.claim('vm-0');
  expect(await stage.served('vm-0')).toBe('10.0.0.5');
  expect(failures).toBe(0);
  expect(await stage.records()).toEqual(['10.0.0.5']);
});

describe('an IPAddress of the name of the claim that somebody else made', () => {
  const address = (change: { metadata?: object; spec?: object } = {}) =>
    sure(
      stage.admin.create(IP_ADDRESSES, {
        metadata: { namespace: NAMESPACE, name: 'vm-0', ...change.metadata },
        spec: {
          claimRef: { name: 'vm-0' },
          poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' },
          address: '10.0.0.7',
          prefix: 16,
          ...change.spec,
        },
      }),
    );
  const owner = (uid: string) => ({
    apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
    kind: 'IPAddressClaim',
    name: 'vm-0',
    uid,
    controller: true,
  });
  beforeEach(async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  });

  test('is adopted with its address, and the references of other owners stay', async () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x-uid' };
    await address({ metadata: { ownerReferences: [other] } });
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    expect(await stage.served('vm-0')).toBe('10.0.0.7');
    expect((await stage.address('vm-0'))?.metadata.ownerReferences).toMatchObject([
      { kind: 'ConfigMap' },
      { kind: 'IPAddressClaim', controller: true, blockOwnerDeletion: true },
      { kind: 'SpiderIPPool', controller: false, blockOwnerDeletion: true },
    ]);
    expect(await stage.records()).toEqual(['10.0.0.7']);
  });

  test.each([
    {
      name: 'another pool',
      change: { spec: { poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: 'old' } } },
      says: 'another pool (old)',
    },
    {
      name: 'the pool of another provider',
      change: { spec: { poolRef: { apiGroup: 'ipam.cluster.x-k8s.io', kind: 'InClusterIPPool', name: 'lab' } } },
      says: 'not one of ours',
    },
    { name: 'another claim', change: { spec: { claimRef: { name: 'vm-9' } } }, says: 'names another claim (vm-9)' },
    {
      name: 'an earlier claim',
      change: { metadata: { ownerReferences: [owner('old-uid')] } },
      says: 'an earlier claim of this name (uid old-uid)',
    },
    {
      name: 'a foreign controller',
      change: { metadata: { ownerReferences: [{ ...owner('m'), apiVersion: 'v1', kind: 'Machine', name: 'm' }] } },
      says: 'is controlled by Machine m',
    },
    {
      name: 'a number outside of the subnet',
      change: { spec: { address: '192.0.2.1' } },
      says: '192.0.2.1 is not in 10.0.0.0/16',
    },
    { name: 'no number at all', change: { spec: { address: 'localhost' } }, says: 'is not an IP address' },
  ])('and that names $name is said and left, and the claim ends well', async ({ change, says }) => {
    const found = await address(change);
    await using _leader = stage.lead();
    const claim = await stage.claim('vm-0');
    expect(await stage.says('vm-0', 'False/AllocationFailed')).toContain(says);
    expect((await stage.address('vm-0'))?.metadata.resourceVersion).toBe(found.metadata.resourceVersion);
    await stage.remove(claim);
    await vi.waitFor(async () => {
      expect(await stage.admin.get(CLAIMS, { namespace: NAMESPACE, name: 'vm-0' })).toMatchObject({
        because: 'NotFound',
      });
    }, PATIENCE);
    expect(await stage.address('vm-0')).not.toBeNull();
  });

  test('and that names another pool of ours keeps its record; deleted, the claim gets an address of its own pool', async () => {
    await stage.pool('other', ['10.9.0.7'], { subnet: '10.9.0.0/24' });
    const poolRef = { apiGroup: POOLS.group, kind: POOLS.kind, name: 'other' };
    const found = await address({ spec: { poolRef, address: '10.9.0.7', prefix: 24 } });
    await using _leader = stage.lead();
    await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.9.0.7']), PATIENCE);
    await stage.claim('vm-0');
    expect(await stage.says('vm-0', 'False/AllocationFailed')).toContain('names another pool (other)');
    await sure(stage.admin.delete(IP_ADDRESSES, { namespace: NAMESPACE, name: 'vm-0', uid: found.metadata.uid }));
    expect(await stage.served('vm-0')).toBe('10.0.0.5');
    expect(await stage.records()).toEqual(['10.0.0.5', '10.9.0.7']);
  });

  test('and whose number a pod has is said and left; the claim goes on when the pod has given it back', async () => {
    const pod = await stage.ledger.create(specOf('10.0.0.7'));
    await address();
    const leader = stage.lead();
    await using _leader = leader;
    await stage.claim('vm-0');
    expect(await stage.says('vm-0', 'False/AllocationFailed')).toContain(
      '10.0.0.7 of IPAddress default/vm-0 is held by Pod prod/web-0',
    );
    expect(leader.told.map(({ reason }) => reason)).toContain('AddressNotRecorded');
    if (pod.taken) await stage.ledger.release(pod.record);
    expect(await stage.served('vm-0')).toBe('10.0.0.7');
  });

  test('and that is being deleted is not adopted', async () => {
    const found = await address({ metadata: { finalizers: ['their.test/finalizer'] } });
    await sure(stage.admin.delete(IP_ADDRESSES, { namespace: NAMESPACE, name: 'vm-0', uid: found.metadata.uid }));
    await using _leader = stage.lead();
    await stage.claim('vm-0');
    await wait(1_000);
    expect(await stage.records()).toEqual([]);
    await sure(
      stage.admin.patch(IP_ADDRESSES, { namespace: NAMESPACE, name: 'vm-0' }, { metadata: { finalizers: null } }),
    );
    expect(await stage.served('vm-0')).toBe('10.0.0.5');
  });
});

const changePool = (change: Record<string, unknown>) => sure(stage.admin.patch(POOLS, { name: 'lab' }, change));

test.each([
  { name: 'disabled', change: () => changePool({ spec: { disable: true } }) },
  { name: 'shrunk to another address', change: () => changePool({ spec: { ips: ['10.0.0.9'] } }) },
  {
    name: 'being deleted',
    change: () => changePool({ metadata: { finalizers: ['spiderpool.spidernet.io'] } }).then(stage.remove),
  },
  { name: 'deleted', change: (pool: KubeObject) => stage.remove(pool) },
])('a pool that is $name under its claims leaves them what they have', async ({ change }) => {
  const pool = await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  await stage.pool('other', ['10.0.9.1']);
  await using _leader = stage.lead();
  const claim = await stage.claim('vm-0');
  await stage.served('vm-0');
  await change(pool);
  // Whoever came later is served: the leader has seen the change.
  await stage.claim('later', { pool: 'other' });
  await stage.served('later');
  expect(await stage.served('vm-0')).toBe('10.0.0.5');
  expect((await stage.address('vm-0'))?.metadata.deletionTimestamp).toBeUndefined();
  expect(await stage.records()).toEqual(['10.0.0.5', '10.0.9.1']);
  await stage.remove(claim);
  await untilGone('vm-0');
  expect(await stage.records()).toEqual(['10.0.9.1']);
});

const LOOKS = ['revision', 'kindsOf'];

test('Cluster API that is not here costs two requests now and then, and no watch; installed later, its claims are served', async () => {
  await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  const seen: string[] = [];
  let isServed = false;
  const client = around(stage.cluster.controller(), (verb, call) => {
    seen.push(verb);
    return isServed || !LOOKS.includes(verb) ? call() : failure('NotServed', '404 page not found');
  });
  const startedMs = performance.now();
  await using _leader = stage.lead({ client, viewClient: stage.cluster.controller() });
  await stage.claim('vm-0');
  await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(8), PATIENCE);
  // Whether it is served, and if not, whether an old version is: that would be said once.
  expect(seen).toEqual(seen.map((_, at) => LOOKS[at % 2]));
  expect(performance.now() - startedMs).toBeGreaterThan((seen.length / 2 - 1) * 0.9 * LOOK_EVERY_MS);
  isServed = true;
  await stage.served('vm-0');
});

test('after a restore of etcd a claim waits, because a number that looks free may be in use', async () => {
  await using own = await startClaimStage();
  await own.pool('lab', ['10.0.0.5-10.0.0.9']);
  const leader = own.lead();
  await using _leader = leader;
  await own.claim('vm-0');
  await own.served('vm-0');
  await own.cluster.server.saveStore();
  // A server that starts writes some revisions itself: the backup must be further back than that.
  const patch = (at: number) => own.admin.patch(POOLS, { name: 'lab' }, { metadata: { annotations: { at: `${at}` } } });
  await vi.waitFor(() => sure(patch(-1)), PATIENCE);
  await Promise.all(Array.from({ length: 1_000 }, (_, at) => patch(at)));
  await own.ledger.create(specOf('10.0.0.6'));
  // Only who has seen later revisions can notice that they went back.
  await vi.waitFor(() => expect(leader.records.get('10.0.0.6')).not.toBeNull(), PATIENCE);
  await own.cluster.server.restoreStore();
  await vi.waitFor(async () => expect((await own.records()).length).toBe(1), PATIENCE);
  await leader.restored;
  await vi.waitFor(() => own.claim('vm-1'), PATIENCE);
  expect(await own.says('vm-1', 'False/PoolNotReady')).toContain('etcd was restored');
  expect(await own.served('vm-0')).toBe('10.0.0.5');
});
