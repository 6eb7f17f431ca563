import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { conditionsOf, eventually, poolOf, remove, sure } from './spider-objects.ts';
import { asks, discard, ipsOf, lead, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

let guarded: SubnetStage;
/** While no webhook answers, or none is installed. */
let open: SubnetStage;

beforeAll(async () => {
  guarded = await startSubnetStage();
  open = await startSubnetStage({ hasWebhook: false });
});
afterAll(async () => {
  await guarded[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

const shrink = (admin: KubeClient, name: string, ips: readonly string[]) =>
  admin.patch(SUBNETS, { name }, { spec: { ips } });

test('a subnet cannot lose the ranges of its pools, nor be deleted under them', async () => {
  const subnet = await guarded.subnet('kept', { subnet: '10.40.0.0/24', ips: ['10.40.0.10-10.40.0.19'] });
  await using _ = await lead(guarded);
  await guarded.deploy('kept', 4, asks('kept'));
  const pool = await guarded.poolWith('kept', 4);
  expect(await shrink(guarded.admin, 'kept', ['10.40.0.12-10.40.0.19'])).toMatchObject({
    because: 'Invalid',
    message: expect.stringContaining(`used by IPPool ${pool.metadata.name}`),
  });
  expect(await guarded.admin.delete(SUBNETS, { name: 'kept', uid: subnet.metadata.uid })).toMatchObject({
    because: 'Forbidden',
    message: expect.stringContaining('cannot delete a Subnet with allocated IPs(4)'),
  });
  await sure(shrink(guarded.admin, 'kept', ['10.40.0.10-10.40.0.13']));
  await guarded.scale('kept', 5);
  await eventually(guarded.admin, SUBNETS, { name: 'kept' }, (object) =>
    expect(conditionsOf(object)).toContain('Insufficient=True/Lacking'),
  );
  expect(ipsOf(await guarded.poolWith('kept', 4))).toEqual(['10.40.0.10-10.40.0.13']);
  await discard(guarded.admin, DEPLOYMENTS, 'kept');
  await vi.waitFor(async () => expect(await guarded.poolsOf('kept')).toEqual([]), PATIENCE);
  await remove(guarded.admin, SUBNETS, subnet);
  await eventually(guarded.admin, SUBNETS, { name: 'kept' }, (object) => expect(object).toBeNull());
});

test('a subnet that shrank under its pools all the same: unused addresses are replaced, used ones stay until they are given back', async () => {
  await open.subnet('shrunk', { subnet: '10.41.0.0/24', ips: ['10.41.0.10-10.41.0.19'] });
  await using _ = await lead(open);
  await open.deploy('shrunk', 4, asks('shrunk'));
  const { metadata } = await open.poolWith('shrunk', 4);
  await open.take('10.41.0.10', metadata.name);
  await sure(shrink(open.admin, 'shrunk', ['10.41.0.12-10.41.0.19']));
  await vi.waitFor(
    async () => expect((await open.poolsOf('shrunk')).flatMap(ipsOf)).toEqual(['10.41.0.10', '10.41.0.12-10.41.0.15']),
    PATIENCE,
  );
  await open.give('10.41.0.10');
  await vi.waitFor(
    async () => expect((await open.poolsOf('shrunk')).flatMap(ipsOf)).toEqual(['10.41.0.12-10.41.0.15']),
    PATIENCE,
  );
  await discard(open.admin, DEPLOYMENTS, 'shrunk');
});

test('a pool that somebody made over the range of an auto pool, which no webhook refused: the auto pool gets others', async () => {
  await open.subnet('doubled', { subnet: '10.43.0.0/24', ips: ['10.43.0.10-10.43.0.19'] });
  const spec = { subnet: '10.43.0.0/24', ips: ['10.43.0.10-10.43.0.11'] };
  const client = open.cluster.controller();
  // In the moment in which the controller sends its own; the earlier name wins in the same second.
  const create: KubeClient['create'] = async (resource, object, options) => {
    if (resource === POOLS) await open.admin.create(POOLS, poolOf('a-manual', spec));
    return client.create(resource, object, options);
  };
  await using _ = await lead(open, { client: withCreate(client, create) });
  await open.deploy('doubled', 3, asks('doubled'));
  await vi.waitFor(
    async () => expect((await open.poolsOf('doubled')).flatMap(ipsOf)).toEqual(['10.43.0.12-10.43.0.14']),
    PATIENCE,
  );
  await discard(open.admin, DEPLOYMENTS, 'doubled');
});

function withCreate(client: KubeClient, create: KubeClient['create']): KubeClient {
  return new Proxy(client, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'create') return create;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('a subnet that is being deleted under its pools keeps them, gives nothing more, and goes with the last', async () => {
  const subnet = await open.subnet('ending', { subnet: '10.42.0.0/24', ips: ['10.42.0.10-10.42.0.19'] });
  await using led = await lead(open);
  await open.deploy('ending', 3, asks('ending'));
  const { metadata } = await open.poolWith('ending', 3);
  await open.take('10.42.0.11', metadata.name);
  await eventually(open.admin, SUBNETS, { name: 'ending' }, (object) =>
    expect(object?.metadata.finalizers).toHaveLength(1),
  );
  await remove(open.admin, SUBNETS, subnet);
  await open.scale('ending', 5);
  await vi.waitFor(
    () => expect(led.told.map(({ note }) => note).join('\n')).toContain('the subnet is being deleted'),
    PATIENCE,
  );
  expect((await open.poolWith('ending', 3)).metadata.uid).toBe(metadata.uid);
  await open.scale('ending', 2);
  await open.poolWith('ending', 2);
  await discard(open.admin, DEPLOYMENTS, 'ending');
  await open.give('10.42.0.11');
  await vi.waitFor(async () => expect(await open.poolsOf('ending')).toEqual([]), PATIENCE);
  await eventually(open.admin, SUBNETS, { name: 'ending' }, (object) => expect(object).toBeNull());
});
