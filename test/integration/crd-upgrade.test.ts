import { expect, test } from 'vitest';
import { startApiServer } from '#test/support/api-server.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { pathOf, SpiderApi } from './crd-spider-api.ts';

const POOL = 'SpiderIPPool';
const KIND = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/spiderippools.spiderpool.spidernet.io';
/** A spec that Spiderpool's schema accepts and ours does not. */
const BAD = { subnet: '10.6.0.1/16', gateway: 'router' };

/** The kind as it was before it had rules. */
function withoutRules(kind: unknown): object {
  const { spec, ...rest } = structuredClone(kind) as { spec: { versions: [{ schema: object }] } };
  const text = { type: 'string' };
  const properties = {
    spec: { type: 'object', properties: { subnet: text, gateway: text, disable: { type: 'boolean' } } },
  };
  spec.versions[0].schema = { openAPIV3Schema: { type: 'object', properties } };
  return { ...rest, spec };
}

test('a pool stored before there were rules can still be changed in other fields, and deleted', async () => {
  await using server = await startApiServer();
  const api = new SpiderApi(server);
  const finalizers = ['spiderpool.spidernet.io/hold'];
  const createStatus = async (name: string) =>
    (await api.create(POOL, name, { metadata: { name, finalizers }, spec: BAD })).status;
  const read = async () => (await api.send('GET', pathOf(POOL, 'old'))).body as { metadata: object; spec: object };

  await applyManifests(server, 'crds');
  await api.send('PUT', KIND, withoutRules((await api.send('GET', KIND)).body));
  await expect.poll(() => createStatus('old'), { timeout: 10_000 }).toBe(201);
  await applyManifests(server, 'crds');
  await expect.poll(() => createStatus(`new-${performance.now()}`), { timeout: 10_000 }).toBe(422);

  const seen = await read();
  const changed = { ...seen, spec: { ...seen.spec, gateway: 'switch' } };
  expect(await api.send('PUT', pathOf(POOL, 'old'), changed)).toMatchObject({ status: 422 });
  const labelled = { ...seen, metadata: { ...seen.metadata, labels: { seen: 'yes' } } };
  expect(await api.send('PUT', pathOf(POOL, 'old'), labelled)).toMatchObject({ status: 200 });

  await api.remove(POOL, 'old');
  const terminating = await read();
  const freed = { ...terminating, metadata: { ...terminating.metadata, finalizers: [] } };
  expect(await api.send('PUT', pathOf(POOL, 'old'), freed)).toMatchObject({ status: 200 });
  expect(await api.send('GET', pathOf(POOL, 'old'))).toMatchObject({ status: 404 });
});
