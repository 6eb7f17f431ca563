import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { conflictEvents } from '#agent/report/agent-events.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import { EventSink } from '#pkg/kube/events/event-sink.ts';
import { callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

interface StoredEvent {
  readonly regarding: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
}

async function eventsIn(namespace: string): Promise<StoredEvent[]> {
  const { server } = cluster.ledger;
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { body } = await callApi(server, { path, token: server.adminToken });
  return (body as { items: StoredEvent[] }).items.filter((it) => it.reportingController === 'ipledger.io/agent');
}

test("with an agent's rights the API server takes events about a pod and about a pool", async () => {
  const onTrouble = vi.fn();
  await using sink = new EventSink(cluster.ledger.agent(), {
    reporter: 'agent',
    instance: 'ipledger-agent-x',
    onTrouble,
  });
  const pod = { podNamespace: 'ipledger', podName: 'web-0', podUID: 'uid-1' };
  for (const event of conflictEvents(pod, { name: 'v4', uid: 'p-1' }, { address: '10.0.0.9', mac: 'ab' })) {
    sink.emit({ ...event, note: event.note.padEnd(3_000, ' ü') });
  }
  await vi.waitUntil(async () => (await eventsIn('default')).length === 1, { timeout: 60_000, interval: 100 });
  expect(await eventsIn('ipledger')).toMatchObject([{ regarding: { kind: 'Pod', name: 'web-0' } }]);
  expect(await eventsIn('default')).toMatchObject([
    { regarding: { kind: 'SpiderIPPool', name: 'v4' }, note: expect.stringContaining('10.0.0.9 of pool v4') as string },
  ]);
  expect([sink.lost, onTrouble.mock.calls]).toEqual([0, []]);
});

test('in a missing namespace the Event is lost, and nothing else fails', async () => {
  await using sink = new EventSink(cluster.ledger.agent(), { reporter: 'agent', instance: 'ipledger-agent-x' });
  const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'gone', name: 'web-0', uid: '' };
  sink.emit({ regarding, type: 'Warning', reason: 'IPPoolExhausted', note: 'full' });
  await vi.waitUntil(() => sink.lost === 1, { timeout: 60_000, interval: 50 });
});

describe('a failed ADD emits an Event on its pod', () => {
  const IPPOOL = 'ipam.spidernet.io/ippool';
  const asksFor = (...names: string[]) => JSON.stringify({ ipv4: names });
  let agent: AgentAtWork;

  beforeAll(async () => {
    const { createPool, createPod, post } = cluster;
    await post('/api/v1/namespaces', { metadata: { name: 'shop' } });
    await createPool('full', { subnet: '10.1.0.0/24', ips: ['10.1.0.10'] });
    await createPool('off', { subnet: '10.2.0.0/24', ips: ['10.2.0.10'], disable: true });
    await createPool('far', { subnet: '10.3.0.0/24', ips: ['10.3.0.10'], nodeName: ['worker-2'] });
    agent = await startAgentOf(cluster);
    await agent.untilReady();
    const annotations = { [IPPOOL]: asksFor('full') };
    await agent.add(await createPod({ name: 'first', namespace: 'shop', annotations }));
  });
  afterAll(() => agent[Symbol.asyncDispose]());

  /** An ADD that is refused, and the Event on its pod. */
  async function refuse(name: string, ippool: string, more?: Partial<AddArgs>) {
    const pod = await cluster.createPod({ name, namespace: 'shop', annotations: { [IPPOOL]: ippool } });
    const { message, details } = await agent.refusal(pod, more);
    const told = async () => (await eventsIn('shop')).filter(({ regarding }) => regarding.name === name);
    await vi.waitUntil(async () => (await told()).length > 0, { timeout: 30_000, interval: 100 });
    const shown = await kubectl(cluster.ledger.server, ['describe', 'pod', name, '--namespace=shop']);
    return { pod, told: await told(), shown, lines: [message, ...details.split('\n')].filter((line) => line !== '') };
  }

  test.each<{ name: string; pod: string; ippool: string; more?: Partial<AddArgs>; reason: string; says: string[] }>([
    {
      name: 'a full pool',
      pod: 'second',
      ippool: asksFor('full'),
      reason: 'IPPoolExhausted',
      says: ['full 1/1 used'],
    },
    {
      name: 'no eligible pool',
      pod: 'barred',
      ippool: asksFor('off', 'far'),
      reason: 'NoEligibleIPPool',
      says: ['off: it is disabled', 'far: node worker-1 is not in nodeName [worker-2]'],
    },
    {
      name: 'a fixed address that has a holder',
      pod: 'fixed',
      ippool: asksFor('full'),
      more: { requestedIPs: ['10.1.0.10'] },
      reason: 'IPAddressRefused',
      says: ['10.1.0.10', 'shop/first'],
    },
    {
      name: 'a pool that does not exist',
      pod: 'lost',
      ippool: asksFor('ful'),
      reason: 'UnknownIPPool',
      says: ['"ful"', 'far, full, off'],
    },
    {
      name: 'an annotation that is no JSON',
      pod: 'broken',
      ippool: '{"ipv4": ["full"',
      reason: 'InvalidIPAMAnnotation',
      says: [`annotation ${IPPOOL}: bad JSON`],
    },
  ])(
    '$name, in the words of the refusal, where kubectl describe shows it',
    async ({ pod, ippool, more, ...expected }) => {
      const refused = await refuse(pod, ippool, more);
      const regarding = { apiVersion: 'v1', kind: 'Pod', ...refused.pod };
      expect(refused.told).toMatchObject([
        { type: 'Warning', reason: expected.reason, regarding, note: refused.lines.join('\n') },
      ]);
      for (const words of [...expected.says, ...refused.lines]) expect(refused.shown).toContain(words);
      expect(refused.shown).toMatch(new RegExp(`Warning +${expected.reason} `));
    },
  );

  test('once for the same text, and not for errors that the user cannot fix', async () => {
    const repeated = await refuse('again', asksFor('full'));
    for (let repeat = 0; repeat < 3; repeat += 1) await agent.refusal(repeated.pod);
    const stale = await agent.refusal({ ...repeated.pod, uid: 'of-one-before' });
    expect(stale).toMatchObject({ reason: 'unknown-pod' });
    await refuse('after', asksFor('full')); // Events are written one after the other, so all earlier ones are written
    const told = (await eventsIn('shop')).filter(({ regarding }) => ['again', 'first'].includes(regarding.name));
    expect(told.map((event) => [event.regarding.name, event.reason])).toEqual([['again', 'IPPoolExhausted']]);
  });
});
