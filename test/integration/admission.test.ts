import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startAdmission } from '#controller/admission/start-admission.ts';
import { keepPools } from '#controller/lifecycle/keep-pools.ts';
import { keepSubnets } from '#controller/lifecycle/keep-subnets.ts';
import { projectPools } from '#controller/project/project-pools.ts';
import { projectSubnets } from '#controller/project/project-subnets.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import type { KubeObject, NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { FINALIZER, POOLS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { inState, specOf } from '#test/contract/record-spec.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { startRoundRobin } from './round-robin.ts';
import { conditionsOf, poolOf, remove, sure } from './spider-objects.ts';
import { installWebhooks, removeWebhooks } from './webhook-install.ts';

let cluster: LedgerCluster;
let admin: KubeClient;
let ledger: Ledger;
let webhookPort: number;
const running = new AsyncDisposableStack();

const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' };
const SETTINGS = {
  enableIPv4: true,
  enableIPv6: true,
  enableSpiderSubnet: true,
  enableValidatingResourcesDeletedWebhook: true,
  host: '127.0.0.1',
  clientCaFile: '',
};
const SPEC = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.9'] };

const startReplica = async (port: number) => {
  const client = cluster.controller();
  const tls = { from: 'self', namespace: 'ipledger', names: ['127.0.0.1'] } as const;
  const context = { client, ledger: openKubernetesLedger(client), log: silent, now: () => new Date() };
  return startAdmission(context, { ...SETTINGS, port, tls });
};

beforeAll(async () => {
  cluster = running.use(await startLedgerCluster());
  admin = running.use(clientOf(cluster.server));
  ledger = openKubernetesLedger(cluster.controller());
  // The configurations are applied first, as by an operator: the replica finds them and adds its CA.
  webhookPort = await findFreePort();
  await installWebhooks(admin, webhookPort);
  running.use(await startReplica(webhookPort));
  await untilCalled();
});
afterAll(() => running.disposeAsync());

/** The API server applies a configuration some time after it was stored. */
async function untilCalled(): Promise<void> {
  await vi.waitFor(
    async () => {
      const { metadata, ...pool } = poolOf(`probe-${Date.now()}`, { subnet: '192.0.2.0/24' });
      const created = await sure(admin.create(POOLS, { metadata, ...pool }));
      expect(created.metadata.finalizers).toEqual([FINALIZER]);
    },
    { timeout: 60_000, interval: 200 },
  );
}

beforeEach(async () => {
  await cluster.clear();
  await removeAllPools();
});

async function removeAllPools(): Promise<void> {
  for (const resource of [POOLS, SUBNETS, RESERVED_IPS]) {
    for (const object of (await sure(admin.list(resource))).items) {
      await remove(admin, resource, object);
      await admin.patch(resource, { name: object.metadata.name }, { metadata: { finalizers: null } });
    }
  }
}

const create = (name: string, spec: object, more: object = {}) =>
  admin.create(POOLS, poolOf(name, { ...SPEC, ...spec }, more));
const change = (name: string, patch: Readonly<Record<string, unknown>>) => admin.patch(POOLS, { name }, patch);
const refusal = async (call: Promise<Outcome<KubeObject | null>>) => {
  const outcome = await call;
  return outcome.ok ? 'accepted' : `${outcome.because}: ${outcome.message}`;
};
const take = async (address: string) => {
  const outcome = await ledger.create(specOf(address));
  if (!outcome.taken) throw new Error(`${address} is taken`);
  return outcome.record;
};

describe('mutation', () => {
  test('a pool gets finalizer, family, label and merged ranges', async () => {
    const spec = { ips: ['10.0.0.5-10.0.0.9', '10.0.0.1', '10.0.0.2-10.0.0.6'], excludeIPs: ['10.0.0.4', '10.0.0.3'] };
    const pool = await sure(create('pool-a', spec));
    expect(pool.metadata.finalizers).toEqual([FINALIZER]);
    expect(pool.metadata.labels).toEqual({ 'ipam.spidernet.io/ippool-cidr': '10-0-0-0-16' });
    expect(pool['spec']).toMatchObject({ ipVersion: 4, ips: ['10.0.0.1-10.0.0.9'], excludeIPs: ['10.0.0.3-10.0.0.4'] });
  });

  test('the finalizer of a pool that is not deleted cannot be removed', async () => {
    await sure(create('pool-a', {}));
    const pool = await sure(change('pool-a', { metadata: { finalizers: null, labels: null } }));
    expect(pool.metadata.finalizers).toEqual([FINALIZER]);
    expect(pool.metadata.labels).toEqual({ 'ipam.spidernet.io/ippool-cidr': '10-0-0-0-16' });
  });

  test('a pool of a subnet belongs to it and takes gateway and routes from it', async () => {
    const routes = [{ dst: '10.7.0.0/16', gw: '10.0.0.254' }];
    const wide = { ...SPEC, ips: ['10.0.0.1-10.0.0.99'], gateway: '10.0.0.254', routes };
    const subnet = await sure(admin.create(SUBNETS, poolOf('s', wide)));
    expect(subnet.metadata.finalizers).toEqual([FINALIZER]);
    const pool = await sure(create('pool-a', {}));
    expect(pool.metadata.ownerReferences).toMatchObject([
      { kind: 'SpiderSubnet', uid: subnet.metadata.uid, controller: true },
    ]);
    expect(pool.metadata.labels).toMatchObject({ 'ipam.spidernet.io/owner-spider-subnet': 's' });
    expect(pool['spec']).toMatchObject({ gateway: '10.0.0.254', routes });
    const bare = await sure(create('pool-b', { ips: ['10.0.0.20'], gateway: '10.0.0.253', routes: [] }));
    expect(bare['spec']).toMatchObject({ gateway: '10.0.0.253', routes: [] });
    expect(await refusal(create('pool-c', { ips: ['10.0.0.99-10.0.0.101'] }))).toMatch(
      /^Invalid: .*spec.ips: Forbidden: add some IP ranges \[10.0.0.100-10.0.0.101\] that are not contained in controller Subnet s$/,
    );
    expect(await refusal(admin.delete(SUBNETS, subnet.metadata))).toMatch(
      /cannot delete a Subnet with allocated IPs\(10\)$/,
    );
    expect(await refusal(admin.patch(SUBNETS, { name: 's' }, { spec: { ips: ['10.0.0.1-10.0.0.19'] } }))).toMatch(
      /spec.ips: Forbidden: remove some IP ranges \[10.0.0.20\] that is being used by IPPool pool-b$/,
    );
  });

  test('a reserved address gets its family', async () => {
    const reserved: NewObject = { metadata: { name: 'r' }, spec: { ips: ['fd00::2', 'fd00::1'] } };
    expect((await sure(admin.create(RESERVED_IPS, reserved)))['spec']).toEqual({
      ipVersion: 6,
      ips: ['fd00::1-fd00::2'],
    });
  });
});

describe('a pool is refused', () => {
  test.each([
    {
      name: 'with a reversed range',
      spec: { ips: ['10.0.0.9-10.0.0.1'] },
      says: /spec.ips\[0\]: Invalid: 10.0.0.9-10.0.0.1 is reversed/,
    },
    {
      name: 'with a gateway that it gives out',
      spec: { gateway: '10.0.0.5' },
      says: /spec.gateway: Invalid: 10.0.0.5 is also in spec.ips/,
    },
    {
      name: 'with two routes to one network',
      spec: {
        routes: [
          { dst: '10.7.0.0/16', gw: '10.0.1.1' },
          { dst: '10.7.0.0/16', gw: '10.0.1.2' },
        ],
      },
      says: /spec.routes\[1\].dst: Invalid: 10.7.0.0\/16 has a route already/,
    },
    {
      name: 'with addresses of another',
      spec: { ips: ['10.0.9.9-10.0.9.10'] },
      says: /spec.ips: Forbidden: overlap with IPPool there: .*both hold 10.0.9.9;/,
    },
    {
      name: 'with a subnet that crosses another',
      spec: { subnet: '10.0.0.0/8', ips: [] },
      says: /spec.subnet: Invalid: overlap with IPPool there which 'spec.subnet' is 10.0.0.0\/16/,
    },
  ])('$name', async ({ spec, says }) => {
    await sure(create('there', { ips: ['10.0.9.1-10.0.9.9'] }));
    const answer = await refusal(create('pool-a', spec));
    expect(answer).toMatch(says);
    expect(answer).toMatch(
      /^Invalid: admission webhook "spiderippool.spiderpool.spidernet.io" denied the request: SpiderIPPool.spiderpool.spidernet.io "pool-a" is invalid/,
    );
  });

  test('not in another domain, and the domain never changes', async () => {
    await sure(create('there', {}));
    const blue = { annotations: { 'ipledger.io/domain': 'blue' } };
    await sure(create('pool-a', {}, blue));
    expect(await refusal(change('pool-a', { metadata: { annotations: { 'ipledger.io/domain': 'red' } } }))).toMatch(
      /domain"\]: Forbidden: is not changeable/,
    );
    expect(await refusal(change('there', { metadata: blue }))).toMatch(/is not changeable/);
  });

  test('however large it is, at once', async () => {
    await sure(create('large', { subnet: 'fd00::/16', ips: ['fd00::1-fd00:ffff:ffff:ffff::'] }));
    expect(await refusal(create('pool-a', { subnet: 'fd00::/16', ips: ['fd00:1::-fd00:2::', 'fd00:3::'] }))).toMatch(
      /overlap with IPPool large/,
    );
    await sure(change('large', { spec: { ips: ['fd00::1-fd00::2', 'fd00:9::-fd00:ffff:ffff:ffff::'] } }));
  });
});

describe('a change', () => {
  test('that takes a used address away is refused by the records, whatever the status says', async () => {
    await sure(create('pool-a', {}));
    const record = await take('10.0.0.5');
    expect(await refusal(change('pool-a', { spec: { excludeIPs: ['10.0.0.5'] } }))).toMatch(
      /spec.ips: Forbidden: remove an IP address 10.0.0.5 that is being used by prod\/web-0$/,
    );
    await sure(change('pool-a', { spec: { excludeIPs: ['10.0.0.6'] } }));
    await ledger.amend(record, inState(record.spec, 'Cooling'));
    await sure(change('pool-a', { spec: { excludeIPs: ['10.0.0.5'] } }));
  });

  test('that takes addresses of another pool is refused', async () => {
    await sure(create('there', { ips: ['10.0.9.1-10.0.9.9'] }));
    await sure(create('pool-a', {}));
    expect(await refusal(change('pool-a', { spec: { ips: ['10.0.0.1-10.0.9.1'] } }))).toMatch(
      /overlap with IPPool there/,
    );
    await sure(change('pool-a', { spec: { ips: ['10.0.0.1-10.0.9.0'] } }));
  });
});

describe('deletion', () => {
  test('of a pool in use is refused, and succeeds after the last address is released', async () => {
    const pool = await sure(create('pool-a', {}));
    const record = await take('10.0.0.5');
    expect(await refusal(admin.delete(POOLS, { name: 'pool-a', uid: pool.metadata.uid }))).toMatch(
      /^Forbidden: admission webhook .* cannot delete an IPPool with allocated IPs\(1\)$/,
    );
    await ledger.release(record);
    const left = await sure(admin.delete(POOLS, { name: 'pool-a', uid: pool.metadata.uid }));
    expect(left?.metadata.deletionTimestamp).toBeDefined();
    expect(await refusal(change('pool-a', { spec: { disable: true } }))).toMatch(
      /^Forbidden: .*cannot update a terminating IPPool$/,
    );
    await sure(change('pool-a', { metadata: { finalizers: null } }));
    expect((await admin.get(POOLS, { name: 'pool-a' })).ok).toBe(false);
    await sure(create('pool-b', {}));
  });
});

test('of 20 pools with one range created at once exactly one is stored', async () => {
  const names = Array.from({ length: 20 }, (_, n) => `pool-${n}`);
  const outcomes = await Promise.all(names.map((name) => refusal(create(name, {}))));
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
  expect((await sure(admin.list(POOLS))).items).toHaveLength(1);
});

test('of six equal subnets created at once exactly one is stored', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `subnet-${n}`);
  const outcomes = await Promise.all(names.map((name) => refusal(admin.create(SUBNETS, poolOf(name, SPEC)))));
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
  for (const outcome of outcomes) expect(outcome).toMatch(/^accepted$|overlap with Subnet subnet-/);
  expect((await sure(admin.list(SUBNETS))).items).toHaveLength(1);
});

test.each([
  { name: 'crosses it', subnet: { subnet: '10.0.0.0/8', ips: ['10.0.0.1-10.0.0.99'] } },
  { name: 'has addresses that it does not control', subnet: { ...SPEC, ips: ['10.0.0.5-10.0.0.99'] } },
])('of a subnet and a pool that $name, created at once, exactly one is stored', async ({ subnet }) => {
  for (let round = 0; round < 5; round++) {
    const outcomes = await Promise.all([
      refusal(admin.create(SUBNETS, poolOf('s', subnet))),
      refusal(create('pool-a', {})),
    ]);
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    await removeAllPools();
  }
});

test('a pool with an annotation that cannot be read is refused, also where only the annotation changes', async () => {
  const typo = { annotations: { 'ipledger.io/reuse-cooldown': '5min' } };
  const says = /metadata.annotations\["ipledger.io\/reuse-cooldown"\]: Invalid: .*5min/;
  expect(await refusal(create('pool-a', {}, typo))).toMatch(says);
  await sure(create('pool-a', {}));
  expect(await refusal(change('pool-a', { metadata: typo }))).toMatch(says);
  await sure(change('pool-a', { metadata: { annotations: { 'ipledger.io/reuse-cooldown': '5m' } } }));
});

/** A review as a stranger sends it: nothing is stored after it. */
async function reviewAsStranger(port: number, name: string): Promise<unknown> {
  const kind = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool' };
  const object = { ...kind, metadata: { name }, spec: SPEC };
  const body = JSON.stringify({ request: { uid: 'u', name, operation: 'CREATE', object } });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const path = '/validate-spiderpool-spidernet-io-v2beta1-spiderippool';
  const at = { host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent: false };
  const outgoing = request(at, (incoming) => void json(incoming).then(resolve, reject));
  outgoing.once('error', reject);
  outgoing.end(body);
  return promise;
}

test('a review that no API server sent keeps no pool from being created', async () => {
  expect(await reviewAsStranger(webhookPort, 'stranger')).toMatchObject({ response: { allowed: true } });
  await sure(create('pool-a', {}));
});

test('status and records do not pass the webhook: they are written while it does not answer', async () => {
  await sure(create('pool-a', {}));
  const status = { totalIPCount: 7 };
  await removeWebhooks(admin);
  const dead = await findFreePort();
  await installWebhooks(admin, dead);
  try {
    await vi.waitFor(
      async () => expect(await refusal(create('pool-b', { ips: ['10.0.5.5'] }))).toMatch(/failed calling webhook/),
      60_000,
    );
    await sure(admin.patch(POOLS, { name: 'pool-a' }, { status }, { subresource: 'status' }));
    await take('10.0.0.1');
  } finally {
    await removeWebhooks(admin);
  }
  const port = await findFreePort();
  await installWebhooks(admin, port);
  running.use(await startReplica(port));
  await untilCalled();
});

async function lead(): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const client = cluster.controller();
  const views = stack.use(watchAsLeader(client));
  const now = () => new Date();
  const context = { client, log: silent, now, isLeader: () => true, ...views };
  const events = stack.use(new EventSink(client, { reporter: 'controller', instance: 'test' }));
  stack.use(keepPools({ ...context, ledger, events }));
  stack.use(keepSubnets({ ...context, events }));
  stack.use(projectSubnets({ ...context, shortages: null }));
  stack.use(projectPools({ ...context, nodeCount: () => 1 }));
  return stack;
}

/** One of the pools is served, and all others that were stored are marked. */
const oneIsServed = () =>
  vi.waitFor(
    async () => {
      const pools = (await sure(admin.list(POOLS))).items;
      const marks = pools.map((pool) => conditionsOf(pool)[0]).sort();
      expect(marks).toEqual([...Array(pools.length - 1).fill('Ready=False/Overlap'), 'Ready=True/Serving']);
    },
    { timeout: 60_000, interval: 200 },
  );

test('of 20 pools created at once by way of three replicas one is served, the others are refused or marked', async () => {
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  const service = running.use(await startRoundRobin(ports));
  await removeWebhooks(admin);
  await installWebhooks(admin, service.port);
  for (const port of ports) running.use(await startReplica(port));
  await untilCalled();
  await removeAllPools();
  await using _ = await lead();
  const names = Array.from({ length: 20 }, (_, n) => `pool-${n}`);
  const outcomes = await Promise.all(names.map((name) => refusal(create(name, {}))));
  expect(outcomes).toContain('accepted');
  for (const outcome of outcomes) expect(outcome).toMatch(/^accepted$|overlap with IPPool/);
  await oneIsServed();
});

test('of pools that slipped past admission at the same instant all but one are marked', async () => {
  await using _ = await lead();
  await removeWebhooks(admin);
  const names = Array.from({ length: 5 }, (_, n) => `pool-${n}`);
  await vi.waitFor(async () => {
    // Waits until the API server does not use the configuration any more.
    const outcomes = await Promise.all(names.map((name) => refusal(create(name, {}))));
    expect(outcomes.every((outcome) => !outcome.includes('webhook'))).toBe(true);
  }, 60_000);
  expect((await sure(admin.list(POOLS))).items).toHaveLength(5);
  await oneIsServed();
});

test('of subnets and pools that slipped past admission the later ones are marked, with an Event', async () => {
  // No webhook is installed here: the test before has removed it.
  await using _ = await lead();
  await sure(admin.create(SUBNETS, poolOf('first', { ...SPEC, ips: ['10.0.0.1-10.0.0.9'] })));
  await setTimeout(1_100); // creationTimestamp has whole seconds
  await sure(admin.create(SUBNETS, poolOf('second', SPEC)));
  await sure(create('outside', { ips: ['10.0.0.30'] }));
  await vi.waitFor(
    async () => {
      const marks = async (resource: Resource, name: string) =>
        conditionsOf(await sure(admin.get(resource, { name }))).filter((it) => it.includes('Overlap'));
      expect(await marks(SUBNETS, 'first')).toEqual([]);
      expect(await marks(SUBNETS, 'second')).toEqual(['Overlap=True/Later']);
      expect(await marks(POOLS, 'outside')).toEqual(['SubnetOverlap=True/Later']);
      const events = (await sure(admin.list(EVENTS))).items.map(({ regarding, reason }) => ({ regarding, reason }));
      for (const name of ['second', 'outside']) {
        expect(events).toContainEqual({ reason: 'Overlap', regarding: expect.objectContaining({ name }) });
      }
    },
    { timeout: 60_000, interval: 200 },
  );
});

test('a pool that cannot be read, because it was stored before, still has its ranges', async () => {
  // No webhook is installed here: the test before has removed it.
  await sure(create('broken', {}, { annotations: { 'ipledger.io/reuse-cooldown': '5min' } }));
  const port = await findFreePort();
  await installWebhooks(admin, port);
  running.use(await startReplica(port));
  await untilCalled();
  expect(await refusal(create('pool-a', {}))).toMatch(/overlap with IPPool broken/);
  expect(await refusal(admin.create(SUBNETS, poolOf('s', { subnet: '10.0.0.0/8' })))).toMatch(
    /overlap with IPPool broken/,
  );
  await sure(change('broken', { metadata: { annotations: { 'ipledger.io/reuse-cooldown': '5m' } } }));
});
