import { describe, expect, test } from 'vitest';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import { type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { buildRequest } from '#test/support/build-pool.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { ApplicationVerifier } from './application-verifier.ts';

const top = (kind: string, name = 'web', apiVersion = 'apps/v1'): Controller => ({
  apiVersion,
  kind,
  namespace: 'prod',
  name,
  uid: 'a-1',
});
const DEPLOYMENT = top('Deployment');
const REPLICA_SET: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-7', uid: 'r-1' };
const JOB: OwnerReference = { apiVersion: 'batch/v1', kind: 'Job', name: 'nightly-1', uid: 'j-1' };
const CRON_JOB = top('CronJob', 'nightly', 'batch/v1');
const selecting = (matchLabels: Labels) => ({ selector: { matchLabels } });
const POOLS = [{ name: 'auto', auto: { subnet: 's', interface: 'eth0', applicationUid: 'a-1', reclaim: true } }];
const SPEC = selecting({ app: 'web' });

interface Claim {
  readonly controller: Controller | null;
  readonly controlledBy?: OwnerReference | null;
  readonly labels?: Labels;
  readonly podName?: string;
  readonly stickyUid?: string;
}

function claimOf({ controller, controlledBy, labels = { app: 'web' }, podName = 'web-0', stickyUid }: Claim) {
  const owner = { apiVersion: 'apps/v1', kind: controller?.kind ?? '', name: 'web', uid: stickyUid ?? '' };
  return {
    holder: {
      kind: 'Pod' as const,
      namespace: 'prod',
      name: podName,
      uid: 'p-1',
      interface: 'eth0',
      containerID: 'c-1',
      node: 'worker-1',
      ...(stickyUid === undefined ? {} : { sticky: true, owner }),
    },
    request: buildRequest({ controller, pod: { labels } }),
    controlledBy: controlledBy === undefined ? controller : controlledBy,
    podName,
  };
}

/** `plural/name` and its uid and spec; or how every read fails. */
type World = Readonly<Record<string, { readonly uid?: string; readonly spec: object }>> | FailureKind;

function setUp(world: World) {
  const state = { world, reads: [] as string[] };
  const clock = turnedClock();
  const verifier = new ApplicationVerifier(async ({ plural }, { namespace, name }) => {
    state.reads.push(`${plural}/${name}`);
    if (typeof state.world === 'string') return failure(state.world, 'so it was said');
    const found = namespace === 'prod' ? state.world[`${plural}/${name}`] : undefined;
    if (found === undefined) return failure('NotFound', 'not found');
    return {
      ok: true,
      object: { metadata: { name, uid: found.uid ?? 'a-1', resourceVersion: '1' }, spec: found.spec },
    };
  }, clock.nowMs);
  return { state, clock, verifier };
}

const template = (labels: Labels) => ({ jobTemplate: { spec: { template: { metadata: { labels } } } } });

describe('a pod counts as one of the application that it names if the application', () => {
  test.each<{ name: string; claim: Claim; world: World; because: string | null }>([
    {
      name: 'is a Deployment that selects it',
      claim: { controller: DEPLOYMENT, controlledBy: REPLICA_SET },
      world: { 'deployments/web': { spec: SPEC } },
      because: null,
    },
    {
      name: 'is a ReplicaSet',
      claim: { controller: top('ReplicaSet') },
      world: { 'replicasets/web': { spec: SPEC } },
      because: null,
    },
    {
      name: 'is a DaemonSet',
      claim: { controller: top('DaemonSet') },
      world: { 'daemonsets/web': { spec: SPEC } },
      because: null,
    },
    {
      name: 'is a Job',
      claim: { controller: top('Job', 'web', 'batch/v1') },
      world: { 'jobs/web': { spec: SPEC } },
      because: null,
    },
    {
      name: 'is a CronJob whose template has its labels',
      claim: { controller: CRON_JOB, controlledBy: JOB, labels: { app: 'n', 'job-name': 'x' } },
      world: { 'cronjobs/nightly': { spec: template({ app: 'n' }) } },
      because: null,
    },
    {
      name: 'is a CronJob whose template has no labels',
      claim: { controller: CRON_JOB, controlledBy: JOB, labels: {} },
      world: { 'cronjobs/nightly': { spec: {} } },
      because: null,
    },
    {
      name: 'is a StatefulSet that wants its ordinal',
      claim: { controller: top('StatefulSet'), podName: 'web-2' },
      world: { 'statefulsets/web': { spec: { ...SPEC, replicas: 3 } } },
      because: null,
    },
    {
      name: 'not an ordinal beyond the last',
      claim: { controller: top('StatefulSet'), podName: 'web-3' },
      world: { 'statefulsets/web': { spec: { ...SPEC, replicas: 3 } } },
      because: 'StatefulSet prod/web wants no pod web-3',
    },
    {
      name: 'not if it is not there',
      claim: { controller: DEPLOYMENT, controlledBy: REPLICA_SET },
      world: {},
      because: 'there is no Deployment prod/web',
    },
    {
      name: 'not if it is another of the same name',
      claim: { controller: DEPLOYMENT, controlledBy: REPLICA_SET },
      world: { 'deployments/web': { uid: 'a-2', spec: SPEC } },
      because: 'Deployment prod/web has UID a-2, and the pod names a-1',
    },
    {
      name: 'not if it selects other pods',
      claim: { controller: DEPLOYMENT, controlledBy: REPLICA_SET, labels: { app: 'db' } },
      world: { 'deployments/web': { spec: SPEC } },
      because: 'Deployment prod/web wants pods with other labels',
    },
    {
      name: 'not if the labels of the CronJob are missing',
      claim: { controller: CRON_JOB, controlledBy: JOB, labels: {} },
      world: { 'cronjobs/nightly': { spec: template({ app: 'n' }) } },
      because: 'CronJob prod/nightly wants pods with other labels',
    },
    {
      name: 'not if its selector says nothing',
      claim: { controller: top('ReplicaSet') },
      world: { 'replicasets/web': { spec: { selector: {} } } },
      because: 'ReplicaSet prod/web does not say which pods it wants',
    },
    {
      name: 'not if the pod says that a Deployment controls it directly',
      claim: { controller: DEPLOYMENT },
      world: { 'deployments/web': { spec: SPEC } },
      because: 'a Deployment controls its pods through a ReplicaSet',
    },
    {
      name: 'not if a ReplicaSet in between names a DaemonSet',
      claim: { controller: top('DaemonSet'), controlledBy: REPLICA_SET },
      world: { 'daemonsets/web': { spec: SPEC } },
      because: 'DaemonSet prod/web does not control the pod itself',
    },
    {
      name: 'not if it is of a kind that Kubernetes does not bring along, and the pool was made for another of its name',
      claim: { controller: { ...top('Game', 'chess', 'x.io/v1'), uid: 'made-up' } },
      world: {},
      because: 'pool auto was not made for the Game prod/chess with UID made-up',
    },
    {
      name: 'not if its name is a path',
      claim: { controller: top('DaemonSet', '../x') },
      world: {},
      because: 'its name "../x" is not the name of an object',
    },
  ])('$name', async ({ claim, world, because }) => {
    const why = await setUp(world).verifier.whyNot(claimOf(claim), POOLS);
    expect(why).toBe(because === null ? null : `the owner that the pod names does not count: ${because}`);
  });
});

test.each<FailureKind>(['Forbidden', 'ServerError', 'Unknown', 'TooManyRequests'])(
  'an application that cannot be read (%s) is neither a yes nor a no',
  async (because) => {
    const { verifier } = setUp(because);
    const claim = claimOf({ controller: DEPLOYMENT, controlledBy: REPLICA_SET });
    await expect(verifier.whyNot(claim, POOLS)).rejects.toMatchObject({ reason: 'api-server-unavailable' });
  },
);

describe('what it costs', () => {
  const claim = (labels?: Labels) =>
    claimOf({ controller: DEPLOYMENT, controlledBy: REPLICA_SET, ...(labels === undefined ? {} : { labels }) });

  test('the pods of one application share a read for ten minutes', async () => {
    const { verifier, state, clock } = setUp({ 'deployments/web': { spec: SPEC } });
    for (let i = 0; i < 50; i += 1) expect(await verifier.whyNot(claim(), POOLS)).toBeNull();
    clock.turn(599_000);
    await verifier.whyNot(claim(), POOLS);
    expect(state.reads).toEqual(['deployments/web']);
    clock.turn(2_000);
    await verifier.whyNot(claim(), POOLS);
    expect(state.reads).toHaveLength(2);
  });

  test('before a pod hears "no", the application is read again', async () => {
    const { verifier, state } = setUp({ 'deployments/web': { spec: SPEC } });
    await verifier.whyNot(claim(), POOLS);
    state.world = { 'deployments/web': { spec: selecting({ app: 'new' }) } };
    expect(await verifier.whyNot(claim({ app: 'new' }), POOLS)).toBeNull();
    expect(state.reads).toHaveLength(2);
  });

  test.each<{ name: string; claim: Claim }>([
    { name: 'a pod without a controller', claim: { controller: null } },
    {
      name: 'a kind that Kubernetes does not bring along: its pool says it',
      claim: { controller: top('Game', 'chess', 'x.io/v1') },
    },
    { name: 'a sticky pod whose set was read already', claim: { controller: top('StatefulSet'), stickyUid: 'a-1' } },
  ])('nothing for $name', async ({ claim: other }) => {
    const { verifier, state } = setUp({});
    expect(await verifier.whyNot(claimOf(other), POOLS)).toBeNull();
    expect(state.reads).toEqual([]);
  });

  test('a sticky pod that names another owner than the one that was read', async () => {
    const { verifier } = setUp({});
    const forged = claimOf({ controller: top('StatefulSet'), stickyUid: 'other' });
    expect(await verifier.whyNot(forged, POOLS)).toContain('there is no StatefulSet prod/web');
  });
});
