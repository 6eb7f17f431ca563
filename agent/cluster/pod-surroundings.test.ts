import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import { answerMissing, ScriptedApi, until } from '#test/support/scripted-api.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { NamespaceCache, NodeLabels, TopController } from './pod-surroundings.ts';

const silent = pino({ level: 'silent' });
const POOL = 'ipam.spidernet.io/default-ipv4-ippool';
const object = (name: string, resourceVersion: number, labels: object = {}, annotations: object = {}) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), labels, annotations },
});

async function startNamespaces() {
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
  await using made = await startNamespaces();
  expect(await made.namespaces.find('prod')).toEqual({ labels: { team: 'a' }, annotations: { [POOL]: '["a"]' } });
  expect(made.api.count('get', 'namespaces')).toBe(0);
  expect(made.api.query('watch', 'namespaces')?.accept).toContain('as=PartialObjectMetadata');
});

test('a change arrives', async () => {
  await using made = await startNamespaces();
  made.api.tell('namespaces', ['MODIFIED', object('prod', 11, { team: 'b' })], ['ADDED', object('last', 12)]);
  await until(() => made.api.isWatched('namespaces'));
  await expect
    .poll(async () => (await made.namespaces.find('prod'))?.labels, { timeout: 60_000 })
    .toEqual({ team: 'b' });
});

test('one the watch has not shown is read; one that does not exist is null', async () => {
  await using made = await startNamespaces();
  expect(await made.namespaces.find('new')).toBeNull();
  made.api.onGet = (request) => request.answer(200, object('new', 12, { team: 'c' }));
  expect(await made.namespaces.find('new')).toEqual({ labels: { team: 'c' }, annotations: {} });
  made.api.onGet = (request) => request.answer(500, statusBody(500, 'InternalError'));
  await expect(made.namespaces.find('new')).rejects.toMatchObject({
    reason: 'api-server-unavailable',
    message: 'cannot read namespace new: because of InternalError',
  });
});

test('the labels of this node alone are watched; without the node there are none to go by', async () => {
  await using api = await ScriptedApi.start();
  await using node = new NodeLabels(api.client, 'worker-1', silent);
  await node.synced;
  await until(() => api.isWatched('nodes'));
  expect(api.query('watch', 'nodes')).toMatchObject({
    fieldSelector: 'metadata.name=worker-1',
    accept: expect.stringContaining('as=PartialObjectMetadata'),
  });
  expect(() => node.current()).toThrow('the Node worker-1 is not known to the API server, or not yet read');
  api.tell('nodes', ['ADDED', object('worker-1', 11, { zone: 'a' })]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toEqual({ zone: 'a' });
  api.tell('nodes', ['MODIFIED', object('worker-1', 12, { zone: 'b' })]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toEqual({ zone: 'b' });
  api.tell('nodes', ['DELETED', object('worker-1', 13)]);
  await expect.poll(() => labelsOf(node), { timeout: 60_000 }).toBeNull();
});

function labelsOf(node: NodeLabels): unknown {
  try {
    return node.current();
  } catch {
    return null;
  }
}

const owner = (apiVersion: string, kind: string, name: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: `uid-${name}`,
});
const RS = owner('apps/v1', 'ReplicaSet', 'web-1');
const DEPLOYMENT = owner('apps/v1', 'Deployment', 'web');
const JOB = owner('batch/v1', 'Job', 'nightly-1');
const CRON_JOB = owner('batch/v1', 'CronJob', 'nightly');
const ROLLOUT = owner('argoproj.io/v1alpha1', 'Rollout', 'web');

const owned = ({ name, uid }: OwnerReference, by?: OwnerReference) => ({
  metadata: {
    name,
    namespace: 'prod',
    uid,
    resourceVersion: '1',
    ...(by === undefined ? {} : { ownerReferences: [{ ...by, controller: true }] }),
  },
});
const inProd = (it: OwnerReference) => ({ ...it, namespace: 'prod' });

async function startControllers(objects: Record<string, object>) {
  const api = await ScriptedApi.start();
  api.onGet = (request, asked) => {
    const object = objects[`${asked.plural}/${asked.name}`];
    if (object === undefined) answerMissing(request, asked);
    else request.answer(200, object);
  };
  return { api, controllers: new TopController(api.client), [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test.each<{
  name: string;
  controller: OwnerReference | null;
  objects?: Record<string, object>;
  top: OwnerReference | null;
  reads: number;
}>([
  { name: 'a bare pod has none', controller: null, top: null, reads: 0 },
  {
    name: 'the Deployment of a ReplicaSet',
    controller: RS,
    objects: { 'replicasets/web-1': owned(RS, DEPLOYMENT) },
    top: DEPLOYMENT,
    reads: 1,
  },
  { name: 'a ReplicaSet of its own', controller: RS, objects: { 'replicasets/web-1': owned(RS) }, top: RS, reads: 1 },
  {
    name: 'whoever controls a ReplicaSet',
    controller: RS,
    objects: { 'replicasets/web-1': owned(RS, ROLLOUT) },
    top: ROLLOUT,
    reads: 1,
  },
  { name: 'a ReplicaSet that is gone stands for itself', controller: RS, top: RS, reads: 1 },
  {
    name: 'a ReplicaSet that is gone and was made anew stands for itself',
    controller: RS,
    objects: { 'replicasets/web-1': owned({ ...RS, uid: 'another' }, DEPLOYMENT) },
    top: RS,
    reads: 1,
  },
  {
    name: 'the CronJob of a Job',
    controller: JOB,
    objects: { 'jobs/nightly-1': owned(JOB, CRON_JOB) },
    top: CRON_JOB,
    reads: 1,
  },
  { name: 'a Job of its own', controller: JOB, objects: { 'jobs/nightly-1': owned(JOB) }, top: JOB, reads: 1 },
  ...[
    owner('apps/v1', 'StatefulSet', 'db'),
    owner('apps/v1', 'DaemonSet', 'ds'),
    owner('v1', 'ReplicationController', 'rc'),
    owner('apps.kruise.io/v1beta1', 'StatefulSet', 'kruise'),
    owner('example.com/v1', 'ReplicaSet', 'foreign'),
    owner('kubevirt.io/v1', 'VirtualMachineInstance', 'vm'),
  ].map((it) => ({ name: `${it.apiVersion} ${it.kind} as it is`, controller: it, top: it, reads: 0 })),
])('$name', async ({ controller, objects = {}, top, reads }) => {
  await using made = await startControllers(objects);
  const found = await made.controllers.find({ controller, namespace: 'prod' });
  expect(found).toEqual(top === null ? null : inProd(top));
  expect(made.api.count('get', 'replicasets') + made.api.count('get', 'jobs')).toBe(reads);
});

test('an owner is read once for all its pods, also when they start together', async () => {
  await using made = await startControllers({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
  const pod = { controller: RS, namespace: 'prod' };
  const all = await Promise.all(Array.from({ length: 20 }, () => made.controllers.find(pod)));
  all.push(await made.controllers.find(pod));
  expect(new Set(all.map((it) => it?.kind))).toEqual(new Set(['Deployment']));
  expect(made.api.count('get', 'replicasets')).toBe(1);
});

test('an owner is read anew on demand, but not for every pod that demands it', async () => {
  const objects = { 'replicasets/web-1': owned(RS, DEPLOYMENT) };
  await using made = await startControllers(objects);
  const clock = turnedClock();
  const controllers = new TopController(made.api.client, clock.nowMs);
  const pod = { controller: RS, namespace: 'prod' };
  await controllers.find(pod);
  objects['replicasets/web-1'] = owned(RS, { ...DEPLOYMENT, uid: 'adopted-by' });
  clock.turn(4_000);
  expect(await controllers.find(pod, { isFresh: true })).toEqual(inProd(DEPLOYMENT));
  clock.turn(2_000);
  for (let i = 0; i < 20; i += 1) {
    expect((await controllers.find(pod, { isFresh: true }))?.uid).toBe('adopted-by');
  }
  expect(made.api.count('get', 'replicasets')).toBe(2);
});

test('a read that failed is told and not remembered', async () => {
  await using made = await startControllers({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
  const serve = made.api.onGet;
  made.api.onGet = (request) => request.answer(403, statusBody(403, 'Forbidden'));
  const pod = { controller: RS, namespace: 'prod' };
  await expect(made.controllers.find(pod)).rejects.toMatchObject({
    reason: 'bad-config',
    message: expect.stringMatching(
      /^cannot read ReplicaSet prod\/web-1, the owner of the pod: this account is not allowed to/,
    ),
  });
  made.api.onGet = serve;
  expect(await made.controllers.find(pod)).toEqual(inProd(DEPLOYMENT));
});

/** A tenant may write any uid into the ownerReferences of its own pods. */
describe.each([
  { name: 'another namespace', forged: { controller: RS, namespace: 'evil' } },
  { name: 'another name', forged: { controller: { ...RS, name: 'made-up' }, namespace: 'prod' } },
  { name: 'another kind', forged: { controller: { ...JOB, name: RS.name, uid: RS.uid }, namespace: 'prod' } },
])("a pod that claims the uid of somebody else's owner under $name", ({ forged }) => {
  const genuine = { controller: RS, namespace: 'prod' };
  const startWithVictim = async () => {
    const made = await startControllers({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
    const serve = made.api.onGet;
    made.api.onGet = (request, asked) =>
      request.path.includes('/namespaces/prod/') ? serve(request, asked) : answerMissing(request, asked);
    return made;
  };

  test('is not taken for one of its pods', async () => {
    await using made = await startWithVictim();
    await made.controllers.find(genuine);
    const { controller, namespace } = forged;
    expect(await made.controllers.find(forged)).toEqual({ ...controller, namespace });
  });

  test('does not decide what its pods are told', async () => {
    await using made = await startWithVictim();
    await made.controllers.find(forged);
    expect(await made.controllers.find(genuine)).toEqual(inProd(DEPLOYMENT));
  });
});
