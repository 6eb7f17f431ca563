import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { projectPools } from '#controller/project/project-pools.ts';
import { sampleGauges } from '#controller/project/sample-gauges.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { kubectl } from '#test/support/manifests.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { conditionsOf, eventually, poolOf, removeAll, sure } from './spider-objects.ts';

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
  await removeAll(admin, RESERVED_IPS);
});

const SPEC = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.4'] };

interface Wish {
  readonly isLeader?: () => boolean;
  readonly nodeCount?: () => number;
}

async function lead({ isLeader = () => true, nodeCount = () => 3 }: Wish = {}): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const client = cluster.controller();
  const views = stack.use(watchAsLeader(client));
  stack.use(projectPools({ client, log: silent, now: () => new Date(), isLeader, nodeCount, ...views }));
  await Promise.all([views.records.synced, views.pools.synced, views.reserved.synced]);
  return stack;
}

const take = async (address: string, name = 'web-0') => {
  const outcome = await ledger.create(heldBy(specOf(address), { name, uid: `uid-of-${name}` }));
  if (!outcome.taken) throw new Error(`${address} is taken`);
  return outcome.record;
};
const statusIs = (status: object, name = 'pool-a') =>
  eventually(admin, POOLS, { name }, (pool) => expect(pool?.['status']).toMatchObject(status));

test('the status follows the records', async () => {
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await using _ = await lead();
  await statusIs({ totalIPCount: 4, allocatedIPCount: 0 });
  const record = await take('10.0.0.2');
  const allocatedIPs = '{"10.0.0.2":{"pod":"prod/web-0","podUid":"uid-of-web-0"}}';
  await statusIs({ totalIPCount: 4, allocatedIPCount: 1, allocatedIPs });
  await ledger.release(record);
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(pool?.['status']).toMatchObject({ allocatedIPCount: 0 });
    expect(pool?.['status']).not.toHaveProperty('allocatedIPs');
    expect(conditionsOf(pool)).toEqual(['Ready=True/Serving', 'Exhausted=False/AddressesLeft']);
  });
});

test('a status that is changed by hand is repaired', async () => {
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await take('10.0.0.1');
  await using _ = await lead();
  await statusIs({ allocatedIPCount: 1 });
  const forged = { totalIPCount: 99, allocatedIPCount: 0, allocatedIPs: null, conditions: null };
  await sure(admin.patch(POOLS, { name: 'pool-a' }, { status: forged }, { subresource: 'status' }));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(pool?.['status']).toMatchObject({ totalIPCount: 4, allocatedIPCount: 1 });
    expect(conditionsOf(pool)).toHaveLength(2);
  });
});

test('a pool too large to count is shown as 2^63 − 1, to the last digit', async () => {
  await sure(
    admin.create(POOLS, poolOf('large', { subnet: 'fd00::/48', ips: ['fd00::1-fd00::ffff:ffff:ffff:ffff:ffff'] })),
  );
  await sure(admin.create(POOLS, poolOf('odd', { subnet: 'fd01::/48', ips: ['fd01::1-fd01::20:0:0:3'] })));
  await using _ = await lead();
  await statusIs({ totalIPCount: 2 ** 63 }, 'large'); // as JavaScript reads it
  await statusIs({ totalIPCount: 2 ** 53 + 4 }, 'odd');
  const printed = await kubectl(cluster.server, ['get', 'sp', '-o', 'jsonpath={.items[*].status.totalIPCount}']);
  expect(printed.split(' ').sort()).toEqual(['9007199254740995', '9223372036854775807']);
  const before = await sure(admin.get(POOLS, { name: 'large' }));
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await statusIs({ totalIPCount: 4 });
  const now = await sure(admin.get(POOLS, { name: 'large' }));
  expect(now.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test('reserved addresses, exhaustion and a shrunk pool show in the conditions', async () => {
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await using _ = await lead();
  await sure(admin.create(RESERVED_IPS, { metadata: { name: 'r' }, spec: { ips: ['10.0.0.3-10.0.0.4'] } }));
  await take('10.0.0.1');
  const cooling = await take('10.0.0.2', 'web-1');
  await ledger.amend(cooling, inState(cooling.spec, 'Cooling'));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(conditionsOf(pool)).toEqual(['Ready=True/Serving', 'Exhausted=True/AllTaken']);
    expect(pool?.['status']).toMatchObject({ allocatedIPCount: 1 });
  });
  await sure(admin.patch(POOLS, { name: 'pool-a' }, { spec: { ips: ['10.0.0.4'], disable: true } }));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(conditionsOf(pool)).toEqual([
      'Ready=False/Disabled',
      'Exhausted=True/AllReserved',
      'Shrunk=True/AddressesInUse',
    ]);
    expect(pool?.['status']).toMatchObject({ allocatedIPCount: 1, totalIPCount: 1 });
  });
});

test('a standby writes nothing', async () => {
  let isLeader = false;
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await using _ = await lead({ isLeader: () => isLeader });
  await sure(admin.create(POOLS, poolOf('pool-b', { subnet: '10.1.0.0/16' })));
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  for (const { status } of (await sure(admin.list(POOLS))).items) expect(status).toBeUndefined();
  isLeader = true;
  await statusIs({ totalIPCount: 4 });
});

test('the gauges are those of the same records', async () => {
  await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
  await sure(admin.create(RESERVED_IPS, { metadata: { name: 'r' }, spec: { ips: ['10.0.0.4'] } }));
  await take('10.0.0.1');
  await using views = watchAsLeader(cluster.controller());
  await Promise.all([views.records.synced, views.pools.synced, views.reserved.synced, views.subnets.synced]);
  const values = Object.fromEntries((await sampleGauges(views)).map(({ name, value }) => [name, value]));
  expect(values).toMatchObject({
    spiderpool_total_ippool_counts: 1,
    spiderpool_total_subnet_counts: 0,
    spiderpool_debug_ippool_total_ip_counts: 4,
    spiderpool_debug_ippool_available_ip_counts: 2,
  });
});

describe('a burst of 1,000 records', () => {
  test('costs at most two status writes a second and one per interval, and ends with the right count', async () => {
    await sure(admin.create(POOLS, poolOf('pool-a', { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.7.255'] })));
    await using _ = await lead();
    await statusIs({ totalIPCount: 2047 });
    const writes: number[] = [];
    await using _watch = new Reflector(admin, {
      resource: POOLS,
      onTrouble: () => {},
      onEvent: ({ type }) => void (type === 'Modified' && writes.push(performance.now())),
    });
    const addresses = Array.from({ length: 1_000 }, (_, n) => `10.0.${(n + 1) >> 8}.${(n + 1) & 255}`);
    const startedAtMs = performance.now();
    const next = addresses.values();
    const worker = async () => {
      for (const address of next) await take(address, `web-${address}`);
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    await statusIs({ allocatedIPCount: 1_000 });
    const seconds = (performance.now() - startedAtMs) / 1_000;
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.length).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  });

  test('with many nodes the writes are fewer', async () => {
    await sure(admin.create(POOLS, poolOf('pool-a', SPEC)));
    await using _ = await lead({ nodeCount: () => 600 }); // one write in 6 s
    await statusIs({ allocatedIPCount: 0 });
    const firstAtMs = performance.now();
    await take('10.0.0.1');
    await statusIs({ allocatedIPCount: 1 });
    // The write before was seen a moment after it was made.
    expect(performance.now() - firstAtMs).toBeGreaterThan(4_000);
  });
});
