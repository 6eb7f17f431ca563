import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CLAIMS, CLUSTERS } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { type Clusterctl, openClusterctl } from '#test/support/clusterctl.ts';
import { kubectl } from '#test/support/manifests.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { NAMESPACE, PATIENCE, stageOn } from './claim-stage.ts';
import { connectWith } from './connect-with.ts';
import { sure } from './spider-objects.ts';

/** Two management clusters, both made by the real `clusterctl init`. The controller has the rights of the package and no others. */
const stack = new AsyncDisposableStack();
let clusterctl: Clusterctl;
let source: Awaited<ReturnType<typeof startManagementCluster>>;
let target: Awaited<ReturnType<typeof startManagementCluster>>;

beforeAll(async () => {
  clusterctl = stack.use(await openClusterctl());
  source = stack.use(await startManagementCluster());
  target = stack.use(await startManagementCluster());
});
afterAll(() => stack.disposeAsync());

async function startManagementCluster() {
  await using starting = new AsyncDisposableStack();
  const server = starting.use(await startApiServer());
  await clusterctl.init(server);
  // Their Service leads to nobody: the controller of these tests serves no admission.
  await kubectl(server, ['delete', 'validatingwebhookconfiguration,mutatingwebhookconfiguration', 'ipledger']);
  const controller = starting.use(await connectWith(server, await plainToken(server, 'ipledger-controller')));
  const stage = stageOn({
    server,
    controller: () => controller,
    clear: async () => {},
    [Symbol.asyncDispose]: async () => {},
  });
  starting.use(stage);
  const everything = starting.move();
  return { ...stage, server, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

test('clusterctl init installs the package: provider, labels, and the manager in its namespace', async () => {
  const providers = await kubectl(source.server, ['get', 'providers', '--all-namespaces', '--output=name']);
  expect(providers).toContain('provider.clusterctl.cluster.x-k8s.io/ipam-ipledger');
  const selected = '--selector=cluster.x-k8s.io/provider=ipam-ipledger';
  const crds = await kubectl(source.server, ['get', 'crds', selected, '--output=name']);
  expect(crds).toContain('spiderippools.spiderpool.spidernet.io');
  const path = '--output=jsonpath={.items[*].spec.template.spec.containers[*].name}';
  expect(await kubectl(source.server, ['get', 'deployments', '--namespace=ipledger', selected, path])).toBe('manager');
});

/** Provisioned, as far as clusterctl asks. Its controllers are not here. */
async function provisionedCluster(name: string) {
  const cluster = await source.capiCluster(name);
  const condition = { type: 'ControlPlaneInitialized', status: 'True', reason: 'Initialized', message: '' };
  const status = {
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    conditions: [{ ...condition, lastTransitionTime: '2026-11-18T16:00:00Z' }],
  };
  await sure(source.admin.patch(CLUSTERS, { namespace: NAMESPACE, name }, { status }, { subresource: 'status' }));
  return ownerOf('cluster.x-k8s.io/v1beta2', cluster, 'Cluster');
}

function ownerOf(apiVersion: string, { metadata: { name, uid } }: KubeObject, kind: string) {
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

test('clusterctl move: claims have the addresses at the target that they had at the source, and there nothing is released', async () => {
  const spec = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.99'] };
  const subnet = await sure(source.admin.create(SUBNETS, { metadata: { name: 'net' }, spec }));
  const owner = ownerOf('spiderpool.spidernet.io/v2beta1', subnet, 'SpiderSubnet');
  await source.pool('lab', ['10.0.0.5-10.0.0.20'], {}, { ownerReferences: [owner] });
  await source.pool('pods', ['10.0.0.50-10.0.0.60']);
  const ownerReferences = [await provisionedCluster('blue')];
  const leader = source.lead();
  await using _source = leader;
  // Claims that go again leave holes: a target that chose addresses itself would choose these.
  const holes = [await source.claim('hole-0'), await source.claim('hole-1')];
  for (const hole of holes) await source.served(hole.metadata.name);
  // The last one names no cluster, so no pause holds it back while it arrives.
  const names = ['vm-0', 'vm-1', 'vm-2', 'vm-3', 'unnamed'];
  const before: Record<string, string> = {};
  for (const name of names) {
    await source.claim(name, { ...(name === 'unnamed' ? {} : { cluster: 'blue' }), metadata: { ownerReferences } });
    before[name] = await source.served(name);
  }
  for (const hole of holes) await source.remove(hole);
  const addresses = Object.values(before).sort();
  await vi.waitFor(async () => expect(await source.records()).toEqual(addresses), PATIENCE);
  await vi.waitFor(async () => {
    const { metadata } = await sure(source.admin.get(SUBNETS, { name: 'net' }));
    expect(metadata.labels).toHaveProperty(['clusterctl.cluster.x-k8s.io/move']);
  }, PATIENCE);

  await using _target = target.lead();
  await clusterctl.move(source.server, target.server, NAMESPACE);

  const after = await Promise.all(names.map(async (name) => [name, await target.served(name)]));
  expect(Object.fromEntries(after)).toEqual(before);
  expect(await target.records()).toEqual(addresses);
  expect(await target.admin.get(POOLS, { name: 'pods' })).toMatchObject({ because: 'NotFound' });
  for (const name of names) {
    expect(await source.admin.get(CLAIMS, { namespace: NAMESPACE, name })).toMatchObject({ because: 'NotFound' });
  }
  const reported = () => leader.told.filter(({ reason }) => reason === 'ClaimVanished').map(({ note }) => note);
  await vi.waitFor(() => expect(reported()).toHaveLength(names.length), PATIENCE);
  expect(reported()).toEqual(
    expect.arrayContaining(addresses.map((address) => expect.stringContaining(`ipledgerctl release ${address}`))),
  );
  expect(await source.records()).toEqual(addresses);
});
