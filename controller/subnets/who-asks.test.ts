import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPod, buildPodRecord } from '#test/support/build-evidence.ts';
import { ScriptedApi } from '#test/support/scripted-api.ts';
import { WhoAsks, type WhoAsksOptions } from './who-asks.ts';

const ASKS = { 'ipam.spidernet.io/subnet': '{"ipv4":["office"]}' };
const RULES = { enableIPv4: true, enableIPv6: true, clusterSubnetAutoPoolDefaultRedundantIPNumber: 0 };
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd-1', controller: true };

const workload = (name: string, metadata: object = {}, annotations: object = ASKS) => ({
  metadata: { name, namespace: 'prod', uid: `uid-of-${name}`, resourceVersion: '1', ...metadata },
  spec: { replicas: 2, template: { metadata: { annotations } } },
});

async function start(replicaSets: readonly object[], given: { records?: IpRecord[]; pod?: PodFacts } = {}) {
  const api = await ScriptedApi.start();
  api.has('replicasets', 1, ...replicaSets);
  const told: EmittedEvent[] = [];
  const asks = new WhoAsks({
    client: api.client,
    log: pino({ level: 'silent' }),
    isLeader: () => true,
    now: () => new Date(),
    records: { ofPool: () => given.records ?? [] } as unknown as WhoAsksOptions['records'],
    workloads: {
      synced: Promise.resolve(),
      get: () => given.pod ?? null,
      all: () => [],
      onChange: () => ({ [Symbol.dispose]() {} }),
    },
    reader: { read: async () => ({ is: 'gone' }), replicasOf: async () => null },
    wishRules: RULES,
    events: { emit: (event) => void told.push(event) },
    readAgainMs: 30_000,
    hasPools: () => false,
  });
  await asks.synced;
  const names = () => asks.applications.of('office').map(({ application }) => application.name);
  const stop = async () => {
    await asks[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  };
  return { api, asks, told, names, [Symbol.asyncDispose]: stop };
}

const HASH = { labels: { 'pod-template-hash': '7c9' } };

test('a ReplicaSet asks for itself, unless a Deployment made it', async () => {
  await using started = await start([workload('own'), workload('made', { ownerReferences: [DEPLOYMENT], ...HASH })]);
  expect(started.names()).toEqual(['own']);
  expect(started.told).toEqual([]);
});

test('a ReplicaSet that its Deployment left behind gets no pool of its own, and is told why', async () => {
  await using started = await start([workload('left', HASH)]);
  expect(started.names()).toEqual([]);
  expect(started.told).toMatchObject([{ reason: 'OrphanedReplicaSet', regarding: { name: 'left' } }]);
  const { unserved } = started.asks;
  expect(unserved.of('office')).toMatchObject([{ application: { name: 'left' }, fault: started.told[0]?.note }]);
  await vi.waitFor(() => expect(started.api.isWatched('replicasets')).toBe(true), 20_000);
  started.api.tell('replicasets', ['DELETED', workload('left', { ...HASH, resourceVersion: '2' })]);
  await vi.waitFor(() => expect(unserved.size).toBe(0), 20_000);
});

test('what is deleted, or asks no more, is forgotten', async () => {
  await using started = await start([workload('a'), workload('b'), workload('c')]);
  await vi.waitFor(() => expect(started.api.isWatched('replicasets')).toBe(true), 20_000);
  started.api.tell('replicasets', ['DELETED', workload('a', { resourceVersion: '2' })]);
  started.api.tell('replicasets', ['MODIFIED', workload('b', { resourceVersion: '3' }, {})]);
  await vi.waitFor(() => expect(started.names()).toEqual(['c']), 20_000);
});

test('a fault is told, and the application stays known as faulty', async () => {
  await using started = await start([workload('bad', {}, { ...ASKS, 'ipam.spidernet.io/ippool-ip-number': 'x' })]);
  expect(started.told).toMatchObject([{ reason: 'BadSubnetAnnotation', regarding: { name: 'bad' } }]);
  expect(started.asks.applications.faulty()).toMatchObject([{ name: 'bad' }]);
});

const OF_SET = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'made', uid: 'uid-of-made' };

test.each([
  { name: 'its pod', pod: { controller: { ...DEPLOYMENT } }, is: true },
  { name: 'a pod of its ReplicaSet', pod: { controller: OF_SET }, is: true },
  { name: 'an orphaned pod', pod: { controller: null }, is: true },
  { name: 'a pod of a left ReplicaSet', pod: { controller: { ...OF_SET, uid: 'uid-of-left' } }, is: true },
  { name: 'a pod of an unknown ReplicaSet', pod: { controller: { ...OF_SET, uid: 'x' } }, is: false },
  {
    name: 'a pod of another application',
    pod: { controller: { ...OF_SET, kind: 'StatefulSet', uid: 'x' } },
    is: false,
  },
  { name: 'a pod that has ended', pod: { controller: OF_SET, phase: 'Failed' }, is: false },
])('a pool is held by an application through $name: $is', async ({ pod, is }) => {
  const sets = [workload('made', { ownerReferences: [DEPLOYMENT], ...HASH }), workload('left', HASH)];
  await using started = await start(sets, { records: [buildPodRecord()], pod: buildPod(pod) });
  expect(started.asks.isHeldBy('p', 'd-1')).toBe(is);
});
