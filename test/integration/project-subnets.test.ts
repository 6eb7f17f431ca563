import { beforeAll, expect, test } from 'vitest';
import { projectSubnets } from '#controller/project/project-subnets.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { kubectl } from '#test/support/manifests.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { eventually, poolOf, remove, sure } from './spider-objects.ts';

let cluster: LedgerCluster;
let admin: KubeClient;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  admin = clientOf(cluster.server);
  return async () => {
    admin[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

const SPEC = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.9'] };

test('the status of a subnet follows its pools, and is repaired', async () => {
  const client = cluster.controller();
  await using views = watchAsLeader(client);
  await using _ = projectSubnets({
    client,
    log: silent,
    now: () => new Date(),
    isLeader: () => true,
    shortages: null,
    ...views,
  });
  const isShown = (status: object) =>
    eventually(admin, SUBNETS, { name: 's' }, (subnet) =>
      expect(subnet?.['status']).toEqual({ ...status, conditions: [expect.objectContaining({ type: 'Ready' })] }),
    );

  await sure(admin.create(SUBNETS, poolOf('s', SPEC)));
  await isShown({ totalIPCount: 9, allocatedIPCount: 0, freeIPCount: 9 });
  const pool = await sure(admin.create(POOLS, poolOf('pool-a', { ...SPEC, ips: ['10.0.0.2', '10.0.0.4'] })));
  const used = {
    totalIPCount: 9,
    allocatedIPCount: 2,
    freeIPCount: 7,
    controlledIPPools: '{"pool-a":{"ips":["10.0.0.2","10.0.0.4"]}}',
  };
  await isShown(used);
  const [titles = '', row = ''] = (await kubectl(cluster.server, ['get', 'spidersubnet', 's'])).split('\n');
  const printed = (title: string) => row.slice(titles.indexOf(title)).split(' ')[0];
  expect([printed('FREE'), printed('READY')]).toEqual(['7', 'True']);
  const forged = { totalIPCount: 1, allocatedIPCount: 0, freeIPCount: 0, controlledIPPools: null };
  await sure(admin.patch(SUBNETS, { name: 's' }, { status: forged }, { subresource: 'status' }));
  await isShown(used);
  await remove(admin, POOLS, pool);
  await isShown({ totalIPCount: 9, allocatedIPCount: 0, freeIPCount: 9 });
});
