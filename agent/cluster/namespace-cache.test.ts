import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ScriptedApi, until } from '#test/support/scripted-api.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { NamespaceCache } from './namespace-cache.ts';

const silent = pino({ level: 'silent' });
const POOL = 'ipam.spidernet.io/default-ipv4-ippool';
const object = (name: string, resourceVersion: number, labels: object = {}, annotations: object = {}) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), labels, annotations },
});

async function start() {
  const api = await ScriptedApi.start();
  api.has('namespaces', 10, object('prod', 5, { team: 'a' }, { [POOL]: '["a"]', other: 'x'.repeat(1000) }));
  const namespaces = new NamespaceCache(api.client, silent);
  await namespaces.synced;
  await until(() => api.isWatched('namespaces'));
  const stop = async () => {
    await namespaces[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  };
  return { api, namespaces, [Symbol.asyncDispose]: stop };
}

test('labels and the annotations of the rules are known without a read, from metadata alone', async () => {
  await using made = await start();
  expect(await made.namespaces.find('prod')).toEqual({ labels: { team: 'a' }, annotations: { [POOL]: '["a"]' } });
  expect(made.api.count('get', 'namespaces')).toBe(0);
  expect(made.api.query('watch', 'namespaces')?.accept).toContain('as=PartialObjectMetadata');
});

test('a change arrives', async () => {
  await using made = await start();
  made.api.tell('namespaces', ['MODIFIED', object('prod', 11, { team: 'b' })], ['ADDED', object('last', 12)]);
  await until(() => made.api.isWatched('namespaces'));
  await expect
    .poll(async () => (await made.namespaces.find('prod'))?.labels, { timeout: 60_000 })
    .toEqual({ team: 'b' });
});

test('one the watch has not shown is read; one that does not exist is null', async () => {
  await using made = await start();
  expect(await made.namespaces.find('new')).toBeNull();
  made.api.onGet = (request) => request.answer(200, object('new', 12, { team: 'c' }));
  expect(await made.namespaces.find('new')).toEqual({ labels: { team: 'c' }, annotations: {} });
  made.api.onGet = (request) => request.answer(500, statusBody(500, 'InternalError'));
  await expect(made.namespaces.find('new')).rejects.toMatchObject({
    reason: 'api-server-unavailable',
    message: 'cannot read namespace new: because of InternalError',
  });
});
