import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openClusterClient } from '#ctl/client/cluster-client.ts';
import { importInCluster } from '#pkg/adopt/in-cluster.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { GLOBAL_IN_CLUSTER_POOLS, IN_CLUSTER_POOLS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { serveStubKinds } from '#test/support/stub-kind.ts';
import { type ClaimStage, NAMESPACE, startClaimStage } from './claim-stage.ts';
import { connectWith } from './connect-with.ts';
import { removeAll, sure } from './spider-objects.ts';

let stage: ClaimStage;
/** With the rights of the operator and no others. */
let ctl: KubeClient;

beforeAll(async () => {
  stage = await startClaimStage();
  await serveStubKinds(stage.cluster.server, [
    { ...IN_CLUSTER_POOLS, scope: 'Namespaced' },
    { ...GLOBAL_IN_CLUSTER_POOLS, scope: 'Cluster' },
  ]);
  ctl = await connectWith(stage.cluster.server, await plainToken(stage.cluster.server, 'ipledger-ctl'));
});
afterAll(async () => {
  ctl[Symbol.dispose]();
  await stage[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stage.clear();
  for (const kind of [IN_CLUSTER_POOLS, GLOBAL_IN_CLUSTER_POOLS]) await removeAll(stage.admin, kind);
});

const SPEC = { addresses: ['10.0.0.10-10.0.0.20'], prefix: 24, gateway: '10.0.0.1' };

async function servedByTheirs(name: string, address: string, kind = 'GlobalInClusterIPPool') {
  const poolRef = { apiGroup: 'ipam.cluster.x-k8s.io', kind, name: 'lab' };
  const claim = await stage.claim(name, { poolRef });
  const owner = { apiVersion: 'ipam.cluster.x-k8s.io/v1beta2', kind: 'IPAddressClaim', name, uid: claim.metadata.uid };
  await sure(
    stage.admin.create(IP_ADDRESSES, {
      metadata: { namespace: NAMESPACE, name, ownerReferences: [{ ...owner, controller: true }] },
      spec: { claimRef: { name }, poolRef, address, prefix: 24 },
    }),
  );
  return claim;
}

test('a dry run says what an import would make, and writes nothing; the import makes it, and can be repeated', async () => {
  await sure(stage.admin.create(GLOBAL_IN_CLUSTER_POOLS, { metadata: { name: 'lab' }, spec: SPEC }));
  const claim = await servedByTheirs('vm-0', '10.0.0.12');
  const addressesOf = (it: Awaited<ReturnType<typeof importInCluster>>) => it.records.map(({ address }) => address);
  const dry = await importInCluster(ctl, { name: 'lab', dryRun: true });
  expect([addressesOf(dry), dry.pool]).toEqual([
    ['10.0.0.12'],
    { name: 'lab', ranges: ['10.0.0.10-10.0.0.20'], wasThere: false, leftOutGateway: null },
  ]);
  expect([await stage.records(), await ctl.get(POOLS, { name: 'lab' })]).toMatchObject([[], { because: 'NotFound' }]);

  expect(addressesOf(await importInCluster(ctl, { name: 'lab', dryRun: false }))).toEqual(['10.0.0.12']);
  expect((await stage.ledger.get('10.0.0.12'))?.spec.holder).toMatchObject({ name: 'vm-0', uid: claim.metadata.uid });
  expect((await sure(stage.admin.get(POOLS, { name: 'lab' })))['spec']).toMatchObject({ disable: true });

  await servedByTheirs('vm-1', '10.0.0.13');
  const again = await importInCluster(ctl, { name: 'lab', dryRun: false });
  expect([addressesOf(again), again.collisions, again.pool.wasThere]).toEqual([['10.0.0.13'], [], true]);
});

test('an address that a pod has here is said and left, in a dry run too', async () => {
  await sure(stage.admin.create(GLOBAL_IN_CLUSTER_POOLS, { metadata: { name: 'lab' }, spec: SPEC }));
  await servedByTheirs('vm-0', '10.0.0.12');
  await stage.ledger.create(specOf('10.0.0.12'));
  for (const dryRun of [true, false]) {
    const { records, collisions } = await importInCluster(ctl, { name: 'lab', dryRun });
    expect([records, collisions]).toEqual([[], [expect.stringContaining('is held by Pod prod/web-0')]]);
  }
});

test('a pool of a namespace is another one than the global pool of its name', async () => {
  await expect(importInCluster(ctl, { name: 'lab', dryRun: true })).rejects.toThrow(
    /no GlobalInClusterIPPool lab; .*--namespace/,
  );
  await sure(stage.admin.create(IN_CLUSTER_POOLS, { metadata: { namespace: NAMESPACE, name: 'lab' }, spec: SPEC }));
  await servedByTheirs('vm-0', '10.0.0.12', 'InClusterIPPool');
  await servedByTheirs('vm-1', '10.0.0.13');
  const { pool, records } = await importInCluster(ctl, { name: 'lab', namespace: NAMESPACE, dryRun: false });
  expect([pool.name, records.map(({ address }) => address)]).toEqual(['default.lab', ['10.0.0.12']]);
});

test('release refuses while the claim exists, whoever serves it; gone, check lists its record with the command', async () => {
  await sure(stage.admin.create(GLOBAL_IN_CLUSTER_POOLS, { metadata: { name: 'lab' }, spec: SPEC }));
  const claim = await servedByTheirs('vm-0', '10.0.0.12');
  await importInCluster(ctl, { name: 'lab', dryRun: false });
  const client = openClusterClient(ctl);
  const record = await stage.ledger.get('10.0.0.12');
  if (record === null) throw new Error('no record');
  const release = () => client.release({ ...record, asOfMs: 0 });
  await expect(release()).rejects.toThrow(/IPAddressClaim default\/vm-0 exists/);
  expect((await client.check()).findings).toEqual([]);
  await stage.remove(claim);
  expect((await client.check()).findings).toMatchObject([
    { kind: 'vanished-claim', message: expect.stringContaining('ipledgerctl release 10.0.0.12') },
  ]);
  expect(await release()).toEqual({ released: true });
});
