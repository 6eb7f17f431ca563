import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApiServer } from '#test/support/api-server.ts';
import { type Clusterctl, openClusterctl } from '#test/support/clusterctl.ts';
import { kubectl } from '#test/support/manifests.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { stageOn } from './claim-stage.ts';
import { connectWith } from './connect-with.ts';

/** A management cluster that the real `clusterctl init` made. The controller has the rights of the package and no others. */
const stack = new AsyncDisposableStack();
let clusterctl: Clusterctl;
let source: Awaited<ReturnType<typeof startManagementCluster>>;

beforeAll(async () => {
  clusterctl = stack.use(await openClusterctl());
  source = stack.use(await startManagementCluster());
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

test('with the roles of the package alone the controller serves a claim', async () => {
  await source.pool('roles', ['10.0.9.5']);
  await using _leader = source.lead();
  await source.claim('vm-0', { pool: 'roles' });
  expect(await source.served('vm-0')).toBe('10.0.9.5');
});
