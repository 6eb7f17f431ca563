import { beforeAll, expect, test, vi } from 'vitest';
import { autoPoolNames } from '#pkg/autopool/pool-name.ts';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { poolOf, remove, sure } from './spider-objects.ts';
import {
  asks,
  discard,
  ipsOf,
  lead,
  NAMESPACE,
  PATIENCE,
  type SubnetStage,
  sharedBy,
  startSubnetStage,
} from './subnet-stage.ts';

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  return () => stage[Symbol.asyncDispose]();
});

const untilGone = (name: string) => vi.waitFor(async () => expect(await stage.poolsOf(name)).toEqual([]), PATIENCE);

test('somebody made a pool of the name that the pool of an application would have: it gets its other name, under every leader', async () => {
  await stage.subnet('named', { subnet: '10.80.0.0/24', ips: ['10.80.0.10-10.80.0.19'] });
  const { uid } = (await stage.deploy('named', 3, asks('named'))).metadata;
  const application = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: NAMESPACE, name: 'named', uid };
  const [first, second] = autoPoolNames({ subnet: 'named', application, interface: 'eth0', family: 4 });
  const manual = await sure(stage.admin.create(POOLS, poolOf(first, { subnet: '10.81.0.0/24', ips: ['10.81.0.10'] })));
  let made: string;
  {
    await using _ = await lead(stage);
    const { metadata } = await stage.poolWith('named', 3);
    expect(metadata.name).toBe(second);
    made = metadata.uid;
  }
  await remove(stage.admin, POOLS, manual);
  await using _ = await lead(stage);
  await stage.scale('named', 4);
  expect((await stage.poolWith('named', 4)).metadata).toMatchObject({ name: second, uid: made });
  await discard(stage.admin, DEPLOYMENTS, 'named');
  await untilGone('named');
});

test('a deleted application is there again with its old uid, as after a restore of etcd: it has one pool, at once and with its old addresses', async () => {
  await stage.subnet('undead', { subnet: '10.82.0.0/24', ips: ['10.82.0.10-10.82.0.19'] });
  const { server } = stage.cluster;
  const { metadata } = await stage.deploy('undead', 3, asks('undead'));
  await server.saveStore(); // it has no pool yet
  await using _ = await lead(stage);
  const old = await stage.poolWith('undead', 3);
  await discard(stage.admin, DEPLOYMENTS, 'undead');
  await untilGone('undead');
  await stage.deploy('heir', 3, asks('undead'));
  const heir = await stage.poolWith('heir', 3);
  expect(sharedBy([old, heir])).toEqual([]);

  await server.restoreStore(5_000);
  const back = await vi.waitFor(
    () => sure(stage.admin.get(DEPLOYMENTS, { namespace: NAMESPACE, name: 'undead' })),
    PATIENCE,
  );
  expect(back.metadata.uid).toBe(metadata.uid);
  const again = await vi.waitFor(() => stage.poolWith('undead', 3), PATIENCE);
  expect(again.metadata.name).toBe(old.metadata.name);
  expect(again.metadata.uid).not.toBe(old.metadata.uid);
  expect(ipsOf(again)).toEqual(ipsOf(old));
  await stage.scale('undead', 5);
  await stage.poolWith('undead', 5);
  expect(await stage.poolsOf('undead')).toHaveLength(1);
  await discard(stage.admin, DEPLOYMENTS, 'undead');
  await untilGone('undead');
});
