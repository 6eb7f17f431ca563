import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sumCounter } from '#test/support/api-metrics.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

type Watches = Readonly<Record<string, number>>;

const POOL = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools/full';
/** The watches of one idle agent; `resource` is one object by its name. */
const KEPT: Watches = {
  'pods cluster': 1,
  'nodes resource': 1,
  'namespaces cluster': 1,
  'spiderreservedips cluster': 1,
  'spiderippools cluster': 1,
};
const PATIENCE = { timeout: 30_000, interval: 200 };

let cluster: PodCluster;
let agent: AgentAtWork;
/** The API server watches some kinds itself. */
let before: Watches;

beforeAll(async () => {
  cluster = await startPodCluster({ isAdopted: false });
  const excludeIPs = Array.from({ length: 200 }, (_, at) => `10.0.0.${at + 30}`);
  await cluster.createPool('full', { subnet: '10.0.0.0/24', ips: ['10.0.0.10'], excludeIPs, default: true });
  await vi.waitUntil(async () => {
    before = await openWatches();
    await wait(1_000);
    return isDeepStrictEqual(before, await openWatches());
  }, PATIENCE);
  agent = await startAgentOf(cluster, { config: { enableIPv6: false, exhaustedWaitSeconds: 120 } });
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

/** The number of watches by kind and scope, from the metrics of the API server. */
async function openWatches(): Promise<Watches> {
  const lines = (await cluster.ledger.server.metrics()).split('\n');
  const counted = lines.flatMap((line) => {
    const [, resource, scope, count] =
      /^apiserver_longrunning_requests\{.*resource="(\w+)",scope="(\w+)".*verb="WATCH".*\} (\d+)$/.exec(line) ?? [];
    return count === undefined || count === '0' ? [] : [[`${resource} ${scope}`, Number(count)] as const];
  });
  return Object.fromEntries(counted);
}

async function addedWatches(): Promise<Watches> {
  const now = await openWatches();
  const kinds = new Set([...Object.keys(before), ...Object.keys(now)]);
  const added = [...kinds].map((kind) => [kind, (now[kind] ?? 0) - (before[kind] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, count]) => count !== 0));
}

/** Watches open and close shortly after their cause; the last state is in the error if it does not match. */
async function expectWatches(wanted: Watches): Promise<void> {
  await vi.waitFor(async () => expect(await addedWatches()).toEqual(wanted), PATIENCE);
}

async function sent(resource: string): Promise<{ events: number; bytes: number }> {
  const metrics = await cluster.ledger.server.metrics();
  return {
    events: sumCounter(metrics, 'apiserver_watch_events_total', { resource }),
    bytes: sumCounter(metrics, 'apiserver_watch_events_sizes_sum', { resource }),
  };
}

/** The bytes that the watches of a kind carry because of an act, after at least this number of its events. */
async function sentBy(resource: string, atLeast: number, act: () => Promise<unknown>) {
  const start = await sent(resource);
  await act();
  await vi.waitUntil(async () => (await sent(resource)).events - start.events >= atLeast, PATIENCE);
  await wait(1_000); // time for events that should not come
  const end = await sent(resource);
  return { events: end.events - start.events, bytes: end.bytes - start.bytes };
}

test('before the adoption an agent watches for its marker, afterwards only what it keeps', async () => {
  await expectWatches({ ...KEPT, 'configmaps resource': 1 });
  await cluster.adopt();
  await agent.untilReady();
  await expectWatches(KEPT);
});

test('an agent receives only the pods of its node', async () => {
  const own = before['pods cluster'] ?? 0;
  const { events } = await sentBy('pods', 4 * own + 1, async () => {
    for (const name of ['a', 'b', 'c']) await cluster.createPod({ name, node: 'worker-2' });
    await cluster.createPod({ name: 'd' });
  });
  expect(events).toBe(4 * own + 1);
});

test('an agent receives only the metadata of a pool', async () => {
  const { events, bytes } = await sentBy('spiderippools', 1, () =>
    cluster.patch(POOL, { metadata: { labels: { team: 'a' } } }),
  );
  expect(events).toBe(1);
  expect(bytes).toBeLessThan(1_500); // the excluded addresses alone have more
});

test('records are watched by one watch while a call waits for an address of a full pool, and not before or after', async () => {
  const [holds, first, second] = (await Promise.all(
    ['holds', 'first', 'second'].map((name) => cluster.createPod({ name })),
  )) as [Pod, Pod, Pod];
  await agent.add(holds);
  await expectWatches(KEPT);
  const waiting = [first, second].map((pod) => agent.add(pod, { timeoutMs: 110_000 }));
  const watching = { ...KEPT, 'iprecords cluster': 1 };
  await expectWatches(watching);
  await cluster.remove('/apis/ipledger.io/v1alpha1/iprecords/10.0.0.10');
  const { ips } = await Promise.race(waiting);
  expect(ips).toMatchObject([{ address: '10.0.0.10/24' }]);
  await expectWatches(watching); // for the other one
  await cluster.patch(POOL, { spec: { ips: ['10.0.0.10-10.0.0.11'] } });
  await Promise.all(waiting);
  await expectWatches(KEPT);
});
