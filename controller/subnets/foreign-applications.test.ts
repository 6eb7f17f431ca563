import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { buildPod } from '#test/support/build-evidence.ts';
import { AskingApplications } from './applications.ts';
import { ForeignApplications } from './foreign-applications.ts';
import type { ApplicationReader, ApplicationReading } from './read-application.ts';

const OWNER = { apiVersion: 'kruise.test/v1', kind: 'CloneSet', name: 'web', uid: 'u-1' };
const APPLICATION = { ...OWNER, namespace: 'prod' };
const ASKS = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"]}' };
const FIXED = { ...ASKS, 'ipam.spidernet.io/ippool-ip-number': '4' };
const POD = buildPod({ controller: OWNER, subnetWish: ASKS });
const RESOURCE = { group: 'kruise.test', version: 'v1', plural: 'clonesets', kind: 'CloneSet' };
const RULES = { enableIPv4: true, enableIPv6: true, clusterSubnetAutoPoolDefaultRedundantIPNumber: 0 };
const there = (spec: object = {}): ApplicationReading => ({
  is: 'there',
  object: { metadata: { name: 'web', namespace: 'prod', uid: 'u-1', resourceVersion: '1' }, spec } as KubeObject,
  kind: { resource: RESOURCE, isNamespaced: true, hasScale: true },
});
const UNREAD = { is: 'unknown', because: 'it cannot be read' } as const;
const REFUSED = { ...UNREAD, missingRight: 'get clonesets in the API group kruise.test' };

type Replicas = Awaited<ReturnType<ApplicationReader['replicasOf']>>;

function start(reading: ApplicationReading, replicas: Replicas, ...pods: PodFacts[]) {
  const world = { reading, replicas, hasPools: false };
  const changes = new Listeners<{ before: PodFacts | null; now: PodFacts | null }>();
  const told: EmittedEvent[] = [];
  const applications = new AskingApplications();
  const unserved = new AskingApplications();
  const read = vi.fn(async () => world.reading);
  const foreign = new ForeignApplications({
    client: {} as KubeClient,
    log: pino({ level: 'silent' }),
    isLeader: () => true,
    now: () => new Date(),
    pods: {
      synced: Promise.resolve(),
      get: () => null,
      all: () => pods,
      onChange: (listener) => changes.add(listener),
    },
    applications,
    unserved,
    reader: { read, replicasOf: async () => world.replicas },
    rules: RULES,
    events: { emit: (event) => void told.push(event) },
    get readAgainMs() {
      return world.hasPools ? 10 : 30_000;
    },
    hasPools: () => world.hasPools,
  });
  const counts = () => applications.find(APPLICATION)?.wanted.map(({ count }) => count);
  return {
    foreign,
    world,
    applications,
    unserved,
    told,
    read,
    changes,
    counts,
    [Symbol.asyncDispose]: () => foreign[Symbol.asyncDispose](),
  };
}

test('an application is found through its pod, and read before it counts', async () => {
  await using started = start(there(), 3, POD);
  await vi.waitFor(() => expect(started.counts()).toEqual([3]), 20_000);
  started.changes.tell({ before: POD, now: null });
  expect(started.counts()).toBeUndefined();
});

test('its own template counts more than what a pod says', async () => {
  await using started = start(there({ template: { metadata: { annotations: FIXED } } }), 3, POD);
  await vi.waitFor(() => expect(started.counts()).toEqual([4]), 20_000);
});

test.each([
  { name: 'a pod of a built-in kind', pod: { controller: { ...OWNER, apiVersion: 'apps/v1', kind: 'ReplicaSet' } } },
  { name: 'a pod of nobody', pod: { controller: null } },
  { name: 'a pod that asks for nothing', pod: { subnetWish: null } },
  { name: 'a pod in the network of its host', pod: { isHostNetwork: true } },
  { name: 'a pod that has ended', pod: { phase: 'Failed' } },
])('nothing is read for $name', async ({ pod }) => {
  await using started = start(
    there(),
    3,
    { ...POD, ...pod },
    { ...POD, name: 'z', controller: { ...OWNER, name: 'z' } },
  );
  await vi.waitFor(() => expect(started.read).toHaveBeenCalled(), 20_000);
  expect(started.read.mock.calls).toEqual([[{ ...APPLICATION, name: 'z' }]]);
});

test('an application that does not exist gets nothing', async () => {
  await using started = start({ is: 'gone' }, 3, POD);
  await vi.waitFor(
    () => expect(started.unserved.of('office')).toMatchObject([{ fault: expect.stringContaining('does not exist') }]),
    20_000,
  );
  expect(started.applications.size).toBe(0);
});

test.each([
  { name: 'the application', reading: REFUSED, replicas: 3 },
  { name: 'its scale', reading: there(), replicas: REFUSED },
])('who may not read $name says which right is missing, and how to give it', async ({ reading, replicas }) => {
  await using started = start(reading, replicas, POD);
  await vi.waitFor(() => expect(started.told).toHaveLength(1), 20_000);
  expect(started.told[0]).toMatchObject({ regarding: APPLICATION, reason: 'ApplicationNotRead' });
  expect(started.told[0]?.note).toMatch(
    /get clonesets in the API group kruise\.test: create a ClusterRole .* ipledger\.io\/aggregate-to-controller: "true"$/,
  );
  expect(started.applications.size).toBe(0);
  const unserved = () => started.unserved.of('office').map(({ fault }) => fault);
  expect(unserved()).toEqual([started.told[0]?.note]);
  started.changes.tell({ before: POD, now: null });
  expect(unserved()).toEqual([]);
});

test('an outage of the scale is not "nobody says how many": what was known stays', async () => {
  await using started = start(there(), UNREAD, POD);
  await vi.waitFor(() => expect(started.told).toHaveLength(1), 20_000);
  expect(started.told[0]).toMatchObject({ reason: 'ApplicationNotRead', note: expect.not.stringContaining('right') });
  expect(started.applications.faulty()).toEqual([]);
});

test('a kind that does not say how many is asked for a fixed number', async () => {
  await using started = start(there(), null, POD);
  await vi.waitFor(() => expect(started.told).toMatchObject([{ reason: 'BadSubnetAnnotation' }]), 20_000);
});

test('a fixed number needs no scale', async () => {
  await using started = start(there(), REFUSED, { ...POD, subnetWish: FIXED });
  await vi.waitFor(() => expect(started.counts()).toEqual([4]), 20_000);
  expect(started.told).toEqual([]);
});

const goes = (started: ReturnType<typeof start>) => started.changes.tell({ before: POD, now: null });
const TEMPLATE = { template: { metadata: { annotations: ASKS } } };

test('an application that has a pool is read on after its last pod has gone', async () => {
  await using started = start(there(), 3, POD);
  await vi.waitFor(() => expect(started.counts()).toEqual([3]), 20_000);
  started.world.hasPools = true;
  started.world.replicas = 0;
  goes(started);
  await vi.waitFor(() => expect(started.counts()).toEqual([0]), 20_000);
  started.world.replicas = 2;
  await vi.waitFor(() => expect(started.counts()).toEqual([2]), 20_000);
});

test.each<{ name: string; change: (world: ReturnType<typeof start>['world']) => void }>([
  { name: 'is gone', change: (world) => Object.assign(world, { reading: { is: 'gone' } }) },
  { name: 'asks no more', change: (world) => Object.assign(world, { reading: there({ template: {} }) }) },
  { name: 'has no pool any more', change: (world) => Object.assign(world, { hasPools: false }) },
])('an application without pods that $name is forgotten', async ({ change }) => {
  await using started = start(there(TEMPLATE), 3, POD);
  await vi.waitFor(() => expect(started.counts()).toEqual([3]), 20_000);
  started.world.hasPools = true;
  goes(started);
  change(started.world);
  await vi.waitFor(() => expect(started.counts()).toBeUndefined(), 20_000);
  const reads = started.read.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(started.read.mock.calls.length - reads).toBeLessThanOrEqual(1);
});

test('an application without pods whose pool is known counts as its template says; without one it says nothing', async () => {
  await using started = start(there(TEMPLATE), 2);
  started.world.hasPools = true;
  started.foreign.keep(APPLICATION);
  await vi.waitFor(() => expect(started.counts()).toEqual([2]), 20_000);
  await using silent = start(there(), 2);
  silent.world.hasPools = true;
  silent.foreign.keep(APPLICATION);
  await vi.waitFor(() => expect(silent.read.mock.calls.length).toBeGreaterThan(1), 20_000);
  expect(silent.counts()).toBeUndefined();
});
