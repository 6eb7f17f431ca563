import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { ScriptedApi, until } from '#test/support/scripted-api.ts';
import type { ScriptedRequest } from '#test/support/scripted-server.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { PodCache } from './pod-cache.ts';

const WEB = { namespace: 'prod', name: 'web' };
const DELETED = { deletionTimestamp: '2026-11-16T10:00:00Z' };

async function start(...items: object[]) {
  const api = await ScriptedApi.start();
  api.has('pods', 10, ...items);
  const problems: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void problems.push(JSON.parse(line)) });
  const cache = new PodCache(api.client, { node: 'worker-1', log });
  const ended: string[] = [];
  cache.onEnd((uid) => ended.push(`${uid} ${cache.known(uid)?.isAlive ?? 'gone'}`));
  await cache.synced;
  await until(() => api.isWatched('pods'));
  const stop = async () => {
    await cache[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  };
  return { api, cache, ended, problems, [Symbol.asyncDispose]: stop };
}

/** Reads wait until the test answers them. */
function holdGets(api: ScriptedApi): ScriptedRequest[] {
  const held: ScriptedRequest[] = [];
  api.onGet = (request) => void held.push(request);
  return held;
}

test('only the pods of this node are watched', async () => {
  await using made = await start();
  expect(made.api.query('list', 'pods')?.fieldSelector).toBe('spec.nodeName=worker-1');
  expect(made.api.query('watch', 'pods')?.fieldSelector).toBe('spec.nodeName=worker-1');
});

test('a pod the watch has shown is found without a read, by its UID and without one', async () => {
  await using made = await start(buildPod(5));
  const found = await made.cache.find({ ...WEB, uid: 'u1' });
  expect(found).toMatchObject({ ...WEB, uid: 'u1', isAlive: true });
  expect(await made.cache.find({ ...WEB, uid: '' })).toBe(found);
  expect(made.cache.known('u1')).toBe(found);
  expect(made.api.count('get', 'pods')).toBe(0);
});

test('where kubelet is faster than the watch the pod is read once and stays known', async () => {
  await using made = await start();
  made.api.onGet = (request) => request.answer(200, buildPod(11));
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toMatchObject({ uid: 'u1' });
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toMatchObject({ uid: 'u1' });
  expect(made.cache.known('u1')).toMatchObject({ isAlive: true });
  expect(made.api.count('get', 'pods')).toBe(1);
});

test('a new pod of the same name is read, and ends the one before at once', async () => {
  await using made = await start(buildPod(5));
  made.api.onGet = (request) => request.answer(200, buildPod(12, { uid: 'u2' }));
  expect(await made.cache.find({ ...WEB, uid: 'u2' })).toMatchObject({ uid: 'u2' });
  expect(made.ended).toEqual(['u1 gone']);

  // The watch is behind: what it still says of the old pod changes nothing.
  const other = buildPod(14, { name: 'other', uid: 'u3' });
  made.api.tell('pods', ['MODIFIED', buildPod(6)], ['DELETED', buildPod(11)], ['ADDED', other]);
  await until(() => made.cache.known('u3') !== null);
  expect(made.cache.known('u1')).toBeNull();
  expect(made.cache.known('u2')).toMatchObject({ isAlive: true });
  expect(made.ended).toEqual(['u1 gone']);
});

test('a pod whose name another one has by now is gone', async () => {
  await using made = await start();
  made.api.onGet = (request) => request.answer(200, buildPod(12, { uid: 'u2' }));
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toBeNull();
  expect(made.cache.known('u2')).toMatchObject({ uid: 'u2' });
});

test('a read that was overtaken by the end of the pod does not bring it back', async () => {
  await using made = await start();
  const held = holdGets(made.api);
  const finding = made.cache.find({ ...WEB, uid: 'u1' });
  await until(() => held.length === 1);
  made.api.tell('pods', ['ADDED', buildPod(11)], ['DELETED', buildPod(13)]);
  await until(() => made.ended.length === 1);
  held[0]?.answer(200, buildPod(12));
  expect(await finding).toBeNull();
  expect(made.cache.known('u1')).toBeNull();
  expect(made.ended).toEqual(['u1 gone']);
});

test('a read that was overtaken by the death of the pod does not make it alive', async () => {
  await using made = await start(buildPod(5));
  const held = holdGets(made.api);
  const reading = made.cache.read({ ...WEB, uid: 'u1' });
  await until(() => held.length === 1);
  made.api.tell('pods', ['MODIFIED', buildPod(13, { metadata: DELETED })]);
  await until(() => made.ended.length === 1);
  held[0]?.answer(200, buildPod(12));
  expect(await reading).toMatchObject({ isAlive: false, resourceVersion: '13' });
  expect(made.cache.known('u1')).toMatchObject({ isAlive: false });
});

test('a watch that is behind a read does not take the news back', async () => {
  await using made = await start(buildPod(5));
  made.api.onGet = (request) => request.answer(200, buildPod(20, { metadata: DELETED }));
  expect(await made.cache.read({ ...WEB, uid: 'u1' })).toMatchObject({ isAlive: false });
  made.api.tell('pods', ['MODIFIED', buildPod(15)], ['ADDED', buildPod(16, { name: 'other', uid: 'u3' })]);
  await until(() => made.cache.known('u3') !== null);
  expect(made.cache.known('u1')).toMatchObject({ isAlive: false, resourceVersion: '20' });
  expect(made.ended).toEqual(['u1 false']);
});

test('the end of a pod is told once: at its deletion mark, not again when it is gone', async () => {
  await using made = await start(
    buildPod(5),
    buildPod(6, { name: 'job', uid: 'u2', spec: { restartPolicy: 'Never' } }),
  );
  const finished = { name: 'job', uid: 'u2', spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } };
  made.api.tell(
    'pods',
    ['MODIFIED', buildPod(11, { metadata: DELETED })],
    ['MODIFIED', buildPod(12, { metadata: DELETED, status: { phase: 'Failed' } })],
    ['DELETED', buildPod(13)],
    ['MODIFIED', buildPod(14, finished)],
    ['DELETED', buildPod(15, finished)],
    ['ADDED', buildPod(16, { name: 'last', uid: 'u9' })],
  );
  await until(() => made.cache.known('u9') !== null);
  expect(made.ended).toEqual(['u1 false', 'u2 false']);
});

test('a pod that came and went while nobody watched is found out after the new list', async () => {
  await using made = await start();
  made.api.onGet = (request) => request.answer(200, buildPod(11));
  await made.cache.find({ ...WEB, uid: 'u1' });
  made.api.onGet = (request) => request.answer(404, statusBody(404, 'NotFound', { name: 'web', kind: 'pods' }));
  made.api.has('pods', 50);
  made.api.tell('pods', ['ERROR', { ...statusBody(410, 'Expired') }]);
  await vi.waitFor(() => expect(made.ended).toEqual(['u1 gone']), 60_000);
});

test('a mirror pod that is made anew has the same UID and is alive again', async () => {
  const mirror = (resourceVersion: number, uid: string) =>
    buildPod(resourceVersion, { uid, metadata: { annotations: { 'kubernetes.io/config.mirror': 'static' } } });
  await using made = await start(mirror(5, 'm1'));
  expect(await made.cache.find({ ...WEB, uid: 'static' })).toMatchObject({ uid: 'static' });
  made.api.tell('pods', ['DELETED', mirror(11, 'm1')], ['ADDED', mirror(12, 'm2')]);
  await until(() => made.cache.known('static')?.resourceVersion === '12');
  expect(made.cache.known('static')).toMatchObject({ isAlive: true });
});

test('without a UID a dead pod is looked at again: it may have been replaced', async () => {
  await using made = await start(buildPod(5, { metadata: DELETED }));
  made.api.onGet = (request) => request.answer(200, buildPod(12, { uid: 'u2' }));
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toMatchObject({ isAlive: false });
  expect(await made.cache.find({ ...WEB, uid: '' })).toMatchObject({ uid: 'u2', isAlive: true });
});

test('read never answers from memory', async () => {
  await using made = await start(buildPod(5));
  made.api.onGet = (request) => request.answer(200, buildPod(5));
  await made.cache.read({ ...WEB, uid: 'u1' });
  await made.cache.read({ ...WEB, uid: 'u1' });
  expect(made.api.count('get', 'pods')).toBe(2);
});

test('a read that finds no pod ends the one that was known', async () => {
  await using made = await start(buildPod(5));
  expect(await made.cache.read({ ...WEB, uid: 'u1' })).toBeNull();
  expect(made.ended).toEqual(['u1 gone']);
});

test('a pod without a node yet is found, one of another node is refused', async () => {
  await using made = await start();
  made.api.onGet = (request) => request.answer(200, buildPod(11, { spec: { nodeName: undefined } }));
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toMatchObject({ node: '' });
  made.api.onGet = (request) => request.answer(200, buildPod(12, { uid: 'u2', spec: { nodeName: 'worker-2' } }));
  await expect(made.cache.find({ ...WEB, uid: 'u2' })).rejects.toMatchObject({
    reason: 'unknown-pod',
    message: 'pod prod/web is on node worker-2, and this agent serves worker-1',
  });
});

test.each<{ name: string; status: number; body: unknown; reason: string; message: RegExp }>([
  {
    name: 'a server that fails',
    status: 500,
    body: statusBody(500, 'InternalError'),
    reason: 'api-server-unavailable',
    message: /^cannot read pod prod\/web: because of InternalError$/,
  },
  {
    name: 'a missing role',
    status: 403,
    body: statusBody(403, 'Forbidden'),
    reason: 'bad-config',
    message:
      /^cannot read pod prod\/web: this account is not allowed to; is its role \(deploy\/rbac.yaml\) in place\?$/,
  },
  {
    name: 'a 404 that names nothing',
    status: 404,
    body: '404 page not found',
    reason: 'bad-config',
    message: /^cannot read pod prod\/web: the API server does not serve pods$/,
  },
  {
    name: 'a pod that nobody can read',
    status: 200,
    body: buildPod(11, { spec: { nodeName: 7 } }),
    reason: 'internal',
    message: /^pod prod\/web cannot be read: spec.nodeName: expected a string/,
  },
])('the asker is told of $name', async ({ status, body, reason, message }) => {
  await using made = await start();
  made.api.onGet = (request) => request.answer(status, body);
  const wanted = { reason, message: expect.stringMatching(message) };
  await expect(made.cache.find({ ...WEB, uid: 'u1' })).rejects.toMatchObject(wanted);
});

test('while the API server is away, what is known is found and the rest refused', async () => {
  await using made = await start(buildPod(5));
  await made.api[Symbol.asyncDispose]();
  expect(await made.cache.find({ ...WEB, uid: 'u1' })).toMatchObject({ uid: 'u1' });
  await expect(made.cache.find({ ...WEB, uid: 'u2' })).rejects.toMatchObject({
    reason: 'api-server-unavailable',
    message: expect.stringMatching(/^cannot read pod prod\/web: /),
  });
});

test('a pod that nobody can read is reported and left out, and what was known of it stays', async () => {
  const broken = (resourceVersion: number) => buildPod(resourceVersion, { spec: { nodeName: 7 } });
  await using made = await start(buildPod(5, { name: 'bad', uid: 'u7', status: { phase: {} } }), buildPod(6));
  expect(made.cache.known('u7')).toBeNull();
  expect(made.problems).toMatchObject([
    { msg: 'event not used', why: expect.stringMatching(/^pod prod\/bad cannot be read/) },
  ]);
  made.api.tell('pods', ['MODIFIED', broken(11)]);
  await until(() => made.problems.length === 2);
  expect(made.cache.known('u1')).toMatchObject({ isAlive: true });
  expect(made.ended).toEqual([]);
});
