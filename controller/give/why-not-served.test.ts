import { expect, test } from 'vitest';
import { CLAIMS, CLUSTERS } from '#pkg/kube/objects/capi-resources.ts';
import { startScripted } from '#test/support/scripted-client.ts';
import { type Script, statusBody } from '#test/support/scripted-server.ts';
import { whyNotServed } from './why-not-served.ts';

const DISCOVERY = /^\/apis\/[^/]+\/[^/]+$/;
const KINDS = {
  kind: 'APIResourceList',
  groupVersion: 'ipam.cluster.x-k8s.io/v1beta2',
  resources: [{ name: 'ipaddressclaims', kind: 'IPAddressClaim', namespaced: true, verbs: ['list'] }],
};
const LIST = { kind: 'List', metadata: { resourceVersion: '1' }, items: [] };

test.each<{ name: string; lists: [number, object]; discovery: [number, object]; because: string | null }>([
  { name: 'all is here', lists: [200, LIST], discovery: [200, KINDS], because: null },
  {
    name: 'no rights on a kind that is served',
    lists: [403, statusBody(403, 'Forbidden')],
    discovery: [200, KINDS],
    because: 'Forbidden',
  },
  {
    name: 'no rights, and no such group',
    lists: [403, statusBody(403, 'Forbidden')],
    discovery: [404, {}],
    because: 'NotServed',
  },
  {
    name: 'no rights, and the group has other kinds',
    lists: [403, statusBody(403, 'Forbidden')],
    discovery: [200, { ...KINDS, resources: [] }],
    because: 'NotServed',
  },
])('$name: $because', async ({ lists, discovery, because }) => {
  const script: Script = ({ path, answer }) => answer(...(DISCOVERY.test(path) ? discovery : lists));
  await using scripted = await startScripted(script);
  expect(await whyNotServed(scripted.client, [CLAIMS, CLUSTERS])).toBe(because);
});
