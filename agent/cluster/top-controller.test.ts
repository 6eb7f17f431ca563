import { describe, expect, test } from 'vitest';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import { answerMissing, ScriptedApi } from '#test/support/scripted-api.ts';
import { statusBody } from '#test/support/scripted-server.ts';
import { TopController } from './top-controller.ts';

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

async function start(objects: Record<string, object>) {
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
  await using made = await start(objects);
  const found = await made.controllers.find({ controller, namespace: 'prod' });
  expect(found).toEqual(top === null ? null : inProd(top));
  expect(made.api.count('get', 'replicasets') + made.api.count('get', 'jobs')).toBe(reads);
});

test('an owner is read once for all its pods, also when they start together', async () => {
  await using made = await start({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
  const pod = { controller: RS, namespace: 'prod' };
  const all = await Promise.all(Array.from({ length: 20 }, () => made.controllers.find(pod)));
  all.push(await made.controllers.find(pod));
  expect(new Set(all.map((it) => it?.kind))).toEqual(new Set(['Deployment']));
  expect(made.api.count('get', 'replicasets')).toBe(1);
});

test('a read that failed is told and not remembered', async () => {
  await using made = await start({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
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
    const made = await start({ 'replicasets/web-1': owned(RS, DEPLOYMENT) });
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
