import { expect, test } from 'vitest';
import { callApi } from '#test/support/api-request.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { kubectl } from '#test/support/manifests.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';

test('a NetworkNamespace is served in both versions, and an old installation serves the old one only', async () => {
  await using server = await startApiServer();
  await installVitistackKinds(server, { isOld: true, withSharedIps: false });
  const versionsOf = async (kind: string) => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { body } = await callApi(server, { path: `${path}/${kind}.vitistack.io`, token: server.adminToken });
    return (body as { spec: { versions: { name: string }[] } }).spec.versions.map(({ name }) => name);
  };
  expect(await versionsOf('networknamespaces')).toEqual(['v1alpha1']);
  await kubectl(server, ['delete', 'crd', 'networknamespaces.vitistack.io', 'networkconfigurations.vitistack.io']);

  await installVitistackKinds(server);
  expect(await versionsOf('networknamespaces')).toEqual(['v1alpha1', 'v1alpha2']);
  const path = '/apis/vitistack.io/v1alpha2/namespaces/default/networknamespaces';
  const body = {
    apiVersion: 'vitistack.io/v1alpha2',
    kind: 'NetworkNamespace',
    metadata: { name: 'prod-network' },
    spec: { ipAllocation: { type: 'static', static: { ipv4CIDR: '10.0.2.0/24', ipv4Gateway: '10.0.2.1' } } },
  };
  const made = await callApi(server, { method: 'POST', path, body, token: server.adminToken });
  expect(made.status).toBe(201);
  const old = await callApi(server, {
    path: `${path.replace('v1alpha2', 'v1alpha1')}/prod-network`,
    token: server.adminToken,
  });
  expect(old.body).toMatchObject({
    spec: { ipAllocation: { static: { ipv4CIDR: '10.0.2.0/24', ttlSeconds: 3_600 } } },
  });
});
