import { expect, test } from 'vitest';
import { CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import { STATEFUL_SETS } from '#pkg/kube/objects/sticky-owners.ts';
import { isBuiltIn, readAskingObject } from './built-in-kinds.ts';

const SUBNET = 'ipam.spidernet.io/subnet';
const ASKS = { [SUBNET]: '{"ipv4":["a"]}' };
const metadata = { name: 'web', namespace: 'prod', uid: 'u', resourceVersion: '1' };
const template = (annotations: unknown = ASKS, spec: object = {}) => ({ metadata: { annotations }, spec });

test.each([
  { name: 'a Deployment', resource: DEPLOYMENTS, spec: { replicas: 3 }, expected: 3 },
  { name: 'a Deployment without replicas', resource: DEPLOYMENTS, spec: {}, expected: 0 },
  { name: 'a DaemonSet', resource: DAEMON_SETS, spec: {}, status: { desiredNumberScheduled: 7 }, expected: 7 },
  { name: 'a DaemonSet of which nothing is known yet', resource: DAEMON_SETS, spec: {}, expected: 0 },
  { name: 'a Job with completions', resource: JOBS, spec: { completions: 4, parallelism: 2 }, expected: 4 },
  { name: 'a Job with parallelism', resource: JOBS, spec: { parallelism: 2 }, expected: 2 },
  { name: 'a Job with neither', resource: JOBS, spec: { completions: 0, parallelism: 0 }, expected: 1 },
])('$name wants $expected', ({ resource, spec, status, expected }) => {
  const object = { metadata, spec: { ...spec, template: template() }, status };
  expect(readAskingObject(resource, object)?.replicas).toBe(expected);
});

const OWNER = { apiVersion: 'databases.test/v1', kind: 'Database', name: 'db', uid: 'd-1', controller: true };

test.each([
  { resource: REPLICA_SETS, isPart: true },
  { resource: JOBS, isPart: true },
  { resource: DEPLOYMENTS, isPart: false },
  { resource: STATEFUL_SETS, isPart: false },
  { resource: DAEMON_SETS, isPart: false },
])('a $resource.kind that an object of another kind controls is a part of that: $isPart', ({ resource, isPart }) => {
  const owned = { metadata: { ...metadata, ownerReferences: [OWNER] }, spec: { template: template() } };
  expect(readAskingObject(resource, owned)?.madeBy?.name ?? null).toBe(isPart ? 'db' : null);
});

test('a CronJob wants what its jobs want, and its template is that of its jobs', () => {
  const jobTemplate = { spec: { completions: 3, template: template({ ...ASKS, other: 'x' }) } };
  expect(readAskingObject(CRON_JOBS, { metadata, spec: { jobTemplate } })).toEqual({
    itself: { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'prod', name: 'web', uid: 'u' },
    madeBy: null,
    isOrphan: false,
    annotations: ASKS,
    replicas: 3,
  });
});

test.each<{ name: string; spec: unknown }>([
  { name: 'no annotation', spec: { template: template({}) } },
  { name: 'other annotations only', spec: { template: template({ 'ipam.spidernet.io/ippool': '{}' }) } },
  { name: 'annotations that are no texts', spec: { template: template({ [SUBNET]: 1 }) } },
  { name: 'annotations that are no map', spec: { template: template([]) } },
  { name: 'the network of the host', spec: { template: template(ASKS, { hostNetwork: true }) } },
  { name: 'no template', spec: {} },
  { name: 'no spec', spec: undefined },
])('nothing is asked for: $name', ({ spec }) => {
  expect(readAskingObject(DEPLOYMENTS, { metadata, spec })).toBeNull();
});

test('kinds of Kubernetes are known by group and kind', () => {
  expect(isBuiltIn({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(true);
  expect(isBuiltIn({ apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet' })).toBe(false);
  expect(isBuiltIn({ apiVersion: 'v1', kind: 'ReplicationController' })).toBe(false);
});

const HASH = { 'pod-template-hash': '7c9' };
const OWNED = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true }];

test.each([
  { name: 'a ReplicaSet that its Deployment left behind', resource: REPLICA_SETS, more: { labels: HASH }, is: true },
  {
    name: 'a ReplicaSet of a Deployment',
    resource: REPLICA_SETS,
    more: { labels: HASH, ownerReferences: OWNED },
    is: false,
  },
  { name: 'a ReplicaSet of its own', resource: REPLICA_SETS, more: { labels: { app: 'web' } }, is: false },
  { name: 'another kind with the label', resource: DEPLOYMENTS, more: { labels: HASH }, is: false },
])('orphan or not: $name', ({ resource, more, is }) => {
  const object = { metadata: { ...metadata, ...more }, spec: { replicas: 1, template: template() } };
  expect(readAskingObject(resource, object)?.isOrphan).toBe(is);
});
