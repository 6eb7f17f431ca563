import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { IP_RECORDS, toNewObject, toRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { callApi } from '#test/support/api-request.ts';
import type { RunningServer } from '#test/support/api-server.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { joinLedgerCluster, type LedgerCluster } from './ledger-cluster.ts';

const server = useSharedServer();
let cluster: LedgerCluster<RunningServer>;
let controller: KubeClient;
let ledger: Ledger;

beforeAll(async () => {
  cluster = await joinLedgerCluster(server);
  controller = cluster.controller();
  ledger = openKubernetesLedger(cluster.agent());
  return () => cluster[Symbol.asyncDispose]();
});

const SPEC = specOf('10.0.0.1');
const PATH = '/apis/ipledger.io/v1alpha1/iprecords/10.0.0.1';
const asAdmin = (method: string, path: string, body?: unknown) =>
  callApi(server, { method, path, body, token: server.adminToken });

/** A writer that is not bound by the policy can leave such a record: with a finalizer and a deletion mark. */
async function storeMarked(spec = SPEC) {
  const { metadata, ...rest } = toNewObject(spec);
  const object = { ...rest, metadata: { ...metadata, finalizers: ['example.org/stay'] } };
  const created = await controller.create(IP_RECORDS, object);
  if (!created.ok) throw new Error(created.message);
  expect(await asAdmin('DELETE', PATH)).toMatchObject({ status: 200 });
  const found = await controller.get(IP_RECORDS, { name: '10.0.0.1' });
  if (!found.ok) throw new Error(found.message);
  expect(found.object.metadata.deletionTimestamp).toBeDefined();
  return { before: toRecord(created.object), marked: toRecord(found.object) };
}

beforeEach(async () => {
  await cluster.clear();
  return async () => {
    const { status, body } = await asAdmin('GET', PATH);
    if (status !== 200) return;
    const object = body as { metadata: object };
    await asAdmin('PUT', PATH, { ...object, metadata: { ...object.metadata, finalizers: [] } });
  };
});

test('a record with a deletion mark has no holder, and its address is not free', async () => {
  await storeMarked();
  expect(await ledger.get('10.0.0.1')).toBeNull();
  expect(await ledger.byHolder('Pod/prod/web-0/eth0/4')).toEqual([]);
  expect(await ledger.byNode('worker-1')).toEqual([]);
  expect(await ledger.list({ limit: 10 })).toEqual([]);
  expect(await ledger.takenOf('pool-a')).toEqual([
    { value: 0x0a000001n, family: 4, domain: 'default', state: 'Allocated', node: 'worker-1' },
  ]);
  expect(await ledger.create(SPEC)).toEqual({ taken: false, record: null });
});

test('a take-over of it returns gone, and the address is given out once', async () => {
  const retained = inState(SPEC, 'Retained');
  const { before, marked } = await storeMarked(retained);
  const next = heldBy(SPEC, { uid: 'reborn', containerID: 'reborn' });
  expect(await ledger.takeOver(before, next)).toEqual({ done: false, because: 'gone' });
  expect(await ledger.takeOver(marked, next)).toEqual({ done: false, because: 'gone' });
  await taken(ledger, heldBy(SPEC, { name: 'web-7', uid: 'another' }));
});

test('an update of it returns gone', async () => {
  const { before, marked } = await storeMarked();
  const next = heldBy(SPEC, { attachGeneration: 2 });
  expect(await ledger.amend(before, next)).toEqual({ done: false, because: 'gone' });
  expect(await ledger.amend(marked, next)).toEqual({ done: false, because: 'gone' });
});

test('a release that only marks the record has not freed its address', async () => {
  const { metadata, ...rest } = toNewObject(SPEC);
  const object = { ...rest, metadata: { ...metadata, finalizers: ['example.org/stay'] } };
  expect(await controller.create(IP_RECORDS, object)).toMatchObject({ ok: true });
  const seen = await ledger.get('10.0.0.1');
  if (seen === null) throw new Error('it is not there');
  expect(await ledger.release(seen)).toEqual({ done: false, because: 'changed' });
  expect((await ledger.create(SPEC)).taken).toBe(false);
});
