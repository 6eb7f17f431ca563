import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { conflictEvents } from '#agent/told-events.ts';
import { EventSink } from '#pkg/kube/event-sink.ts';
import { callApi } from '#test/support/api-request.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

let cluster: LedgerCluster;

beforeAll(async () => {
  cluster = await startLedgerCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

interface StoredEvent {
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly note: string;
  readonly reportingController: string;
}

async function eventsIn(namespace: string): Promise<StoredEvent[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { body } = await callApi(cluster.server, { path, token: cluster.server.adminToken });
  return (body as { items: StoredEvent[] }).items.filter((it) => it.reportingController === 'ipledger.io/agent');
}

test("with an agent's rights the API server takes events about a pod and about a pool", async () => {
  const onTrouble = vi.fn();
  await using sink = new EventSink(cluster.agent(), { reporter: 'agent', instance: 'ipledger-agent-x', onTrouble });
  const pod = { podNamespace: 'ipledger', podName: 'web-0', podUID: 'uid-1' };
  for (const event of conflictEvents(pod, { name: 'v4', uid: 'p-1' }, { address: '10.0.0.9', mac: 'ab' })) {
    sink.tell({ ...event, note: event.note.padEnd(3_000, ' ü') });
  }
  await vi.waitUntil(async () => (await eventsIn('default')).length === 1, { timeout: 60_000, interval: 100 });
  expect(await eventsIn('ipledger')).toMatchObject([{ regarding: { kind: 'Pod', name: 'web-0' } }]);
  expect(await eventsIn('default')).toMatchObject([
    { regarding: { kind: 'SpiderIPPool', name: 'v4' }, note: expect.stringContaining('10.0.0.9 of pool v4') as string },
  ]);
  expect([sink.lost, onTrouble.mock.calls]).toEqual([0, []]);
});

test('a namespace that is not there costs the event and nothing else', async () => {
  await using sink = new EventSink(cluster.agent(), { reporter: 'agent', instance: 'ipledger-agent-x' });
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'gone', name: 'web-0', uid: '' };
  sink.tell({ regarding, type: 'Warning', reason: 'IPPoolExhausted', note: 'full' });
  await vi.waitUntil(() => sink.lost === 1, { timeout: 60_000, interval: 50 });
});
