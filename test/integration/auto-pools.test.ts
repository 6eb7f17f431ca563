import { beforeAll, expect, test, vi } from 'vitest';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { eventually, sure } from './spider-objects.ts';
import { asks, discard, ipsOf, lead, NAMESPACE, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  return () => stage[Symbol.asyncDispose]();
});

test('an application names a subnet, and its pool is made as Spiderpool makes it, grown, shrunk and taken back', async () => {
  const subnet = await stage.subnet('office', {
    subnet: '10.1.0.0/24',
    ips: ['10.1.0.10-10.1.0.99'],
    gateway: '10.1.0.1',
    routes: [{ dst: '10.9.0.0/16', gw: '10.1.0.2' }],
  });
  await using _ = await lead(stage);
  const web = await stage.deploy('web', 3, asks('office', { 'ipam.spidernet.io/ippool-ip-number': '+2' }));
  const pool = await stage.poolWith('web', 5);
  const { uid } = web.metadata;
  expect(pool.metadata.name).toBe(`auto4-web-eth0-${uid.split('-').at(-1)?.slice(0, 5)}`);
  expect(pool.metadata.labels).toEqual({
    'ipam.spidernet.io/owner-spider-subnet': 'office',
    'ipam.spidernet.io/owner-application-gv': 'apps_v1',
    'ipam.spidernet.io/owner-application-kind': 'Deployment',
    'ipam.spidernet.io/owner-application-namespace': NAMESPACE,
    'ipam.spidernet.io/owner-application-name': 'web',
    'ipam.spidernet.io/owner-application-uid': uid,
    'ipam.spidernet.io/interface': 'eth0',
    'ipam.spidernet.io/ip-version': 'IPv4',
    'ipam.spidernet.io/ippool-reclaim': 'true',
    'ipam.spidernet.io/ippool-cidr': '10-1-0-0-24',
  });
  expect(pool.metadata.annotations).toEqual({ 'ipam.spidernet.io/ippool-ip-number': '+2' });
  expect(pool.metadata.ownerReferences).toMatchObject([
    { kind: 'SpiderSubnet', uid: subnet.metadata.uid, controller: true },
  ]);
  expect(pool['spec']).toEqual({
    ipVersion: 4,
    default: false,
    disable: false,
    subnet: '10.1.0.0/24',
    ips: ['10.1.0.10-10.1.0.14'],
    gateway: '10.1.0.1',
    routes: [{ dst: '10.9.0.0/16', gw: '10.1.0.2' }],
    podAffinity: {
      matchLabels: {
        'ipam.spidernet.io/app-api-group': 'apps',
        'ipam.spidernet.io/app-api-version': 'v1',
        'ipam.spidernet.io/app-kind': 'Deployment',
        'ipam.spidernet.io/app-namespace': NAMESPACE,
        'ipam.spidernet.io/app-name': 'web',
      },
    },
  });
  await eventually(stage.admin, SUBNETS, { name: 'office' }, (object) =>
    expect(object?.['status']).toMatchObject({
      totalIPCount: 90,
      allocatedIPCount: 5,
      controlledIPPools: JSON.stringify({
        [pool.metadata.name]: { ips: ['10.1.0.10-10.1.0.14'], application: `apps_v1_Deployment_${NAMESPACE}_web` },
      }),
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Insufficient', status: 'False' },
      ],
    }),
  );

  await stage.scale('web', 8);
  expect(ipsOf(await stage.poolWith('web', 10))).toEqual(['10.1.0.10-10.1.0.19']);
  await stage.take('10.1.0.19', pool.metadata.name);
  await stage.scale('web', 1);
  expect(ipsOf(await stage.poolWith('web', 3))).toEqual(['10.1.0.17-10.1.0.19']);
  await discard(stage.admin, DEPLOYMENTS, 'web');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await stage.poolsOf('web')).toHaveLength(1);
  await stage.give('10.1.0.19');
  await vi.waitFor(async () => expect(await stage.poolsOf('web')).toEqual([]), PATIENCE);
  await eventually(stage.admin, SUBNETS, { name: 'office' }, (object) => {
    expect(object?.['status']).toMatchObject({ totalIPCount: 90, allocatedIPCount: 0 });
    expect(object?.['status']).not.toHaveProperty('controlledIPPools');
  });
});

test('a deleted auto pool of a living application is made again', async () => {
  await stage.subnet('heal', { subnet: '10.2.0.0/24', ips: ['10.2.0.10-10.2.0.12'] });
  await using _ = await lead(stage);
  await stage.deploy('healed', 3, asks('heal'));
  const { metadata } = await stage.poolWith('healed', 3);
  await sure(stage.admin.delete(POOLS, { name: metadata.name, uid: metadata.uid }));
  await vi.waitFor(
    async () => expect((await stage.poolWith('healed', 3)).metadata.uid).not.toBe(metadata.uid),
    PATIENCE,
  );
  await discard(stage.admin, DEPLOYMENTS, 'healed');
  await vi.waitFor(async () => expect(await stage.poolsOf('healed')).toEqual([]), PATIENCE);
});

test('while records may be missing, no pool is made, shrunk or deleted', async () => {
  await stage.subnet('restored', { subnet: '10.3.0.0/24', ips: ['10.3.0.10-10.3.0.19'] });
  let missingForMs = 200;
  await using _ = await lead(stage, { recordsMissingForMs: () => missingForMs });
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1_500));
  await stage.deploy('back', 4, asks('restored'));
  await pause();
  expect(await stage.poolsOf('back')).toEqual([]);
  await eventually(stage.admin, SUBNETS, { name: 'restored' }, (object) =>
    expect(object?.['status']).toMatchObject({ conditions: [{}, { type: 'Insufficient', status: 'Unknown' }] }),
  );
  missingForMs = 0;
  await stage.poolWith('back', 4);

  missingForMs = 200;
  await stage.scale('back', 1);
  await pause();
  await stage.poolWith('back', 4);
  missingForMs = 0;
  await stage.poolWith('back', 1);

  missingForMs = 200;
  await discard(stage.admin, DEPLOYMENTS, 'back');
  await pause();
  expect(await stage.poolsOf('back')).toMatchObject([{ metadata: { name: expect.any(String) } }]);
  expect((await stage.poolsOf('back'))[0]?.metadata.deletionTimestamp).toBeUndefined();
  missingForMs = 0;
  await vi.waitFor(async () => expect(await stage.poolsOf('back')).toEqual([]), PATIENCE);
});
