import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ADMIN_PATHS } from '#pkg/agentapi/admin.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import type { ApiServer } from '#test/support/api-server.ts';
import { addressesIn, type PluginAnswer } from '#test/support/plugin-call.ts';
import { startTcpProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';
import { journalOf } from './journal-files.ts';
import { follow } from './kube-follow.ts';
import { pauseForSure } from './ledger-pause.ts';
import {
  type AgentAtWork,
  addArgsOf,
  type Pod,
  type PodCluster,
  startAgentOf,
  startPodCluster,
} from './pod-cluster.ts';
import { pluginOf } from './pod-plugin.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.250'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

const podsNamed = (name: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => cluster.createPod({ name: `${name}-${at}` })));
/** Records as holder and address, in the order of the holders. */
const recordedAddresses = async () =>
  (await cluster.records()).map(({ spec }) => [`${spec.holder.uid}`, `${spec.address}/24`]).sort();

async function untilKnownGone(agent: AgentAtWork, pods: readonly Pod[]): Promise<void> {
  await vi.waitUntil(async () => {
    const answers = await Promise.all(pods.map((pod) => agent.tryAdd(pod)));
    return answers.every(({ status }) => status !== 200);
  }, 20_000);
}

async function expectOneRecordEach(pods: readonly Pod[]): Promise<void> {
  const records = await cluster.records();
  expect(records.map(({ spec }) => spec.holder.uid).sort()).toEqual(pods.map(({ uid }) => uid).sort());
}

const OUTAGE_MS = 32_000;
const AT_ONCE = 20;
const DONE = { code: 0, document: null };

describe('the API server is away for more than 30 s during a burst', () => {
  test('ADDs wait or end with 11, and DELs succeed; afterwards no leak, no duplicate, no pending release', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using agent = await startAgentOf(cluster, { port: proxy.port });
    const plugin = pluginOf(agent);
    const held = new Map<string, string>();
    const add = async (pod: Pod, life?: string) => {
      const answer = await plugin('ADD', pod, life);
      for (const address of addressesIn(answer)) held.set(pod.uid, address);
      return answer;
    };
    await agent.untilReady();
    const coming = await podsNamed('coming', 50);
    // More than 32 together: the agent's second look at the pool is not in the middle of the burst.
    const gone = await podsNamed('gone', 11);
    const going = await podsNamed('going', 11);
    const staying = await podsNamed('staying', 11);
    const leaving = [...gone, ...going, ...staying];
    await Promise.all(leaving.map((pod) => add(pod)));
    const stayed = staying.map(({ uid }) => held.get(uid));
    expect(held.size).toBe(leaving.length);
    for (const pod of gone) await cluster.deletePod(pod);
    await untilKnownGone(agent, gone);

    const ends: PluginAnswer[] = [];
    const burst = coming.map(async (pod, at) => {
      await wait(Math.max(0, at - AT_ONCE) * 1_000); // many at once, the others one a second while the server is away
      const answer = await add(pod);
      ends.push(answer);
      if (answer.code !== 0) expect(await plugin('DEL', pod)).toEqual(DONE); // like a runtime
    });
    const allEnded = Promise.allSettled(burst);
    await using _ = { [Symbol.asyncDispose]: async () => void (await allEnded) }; // all plugins end before their agent
    await vi.waitUntil(() => ends.length >= 3, { timeout: 60_000, interval: 1 });
    proxy.hold('answers');
    // One create has arrived, but its answer is lost.
    await vi.waitUntil(async () => (await cluster.records()).length > agent.gauge('index-records'), 60_000);
    proxy.refuse();
    proxy.cut();
    proxy.release();
    const [over, endedBefore] = [wait(OUTAGE_MS), ends.length];
    for (const pod of going) await cluster.deletePod(pod); // the agent does not see this
    expect(await Promise.all(leaving.map((pod) => plugin('DEL', pod)))).toEqual(leaving.map(() => DONE));
    expect(await journalOf(agent, 'release')).toHaveLength(gone.length);
    expect(await plugin('STATUS', staying[0] as Pod)).toEqual(DONE); // an outage does not make a node NotReady
    await over;
    await proxy.accept();

    await Promise.all(burst);
    const failed = ends.filter(({ code }) => code !== 0);
    expect(failed.map(({ document }) => document?.code)).toEqual(failed.map(() => 11));
    expect(failed).not.toEqual([]); // calls that started early could not wait long enough
    expect(await journalOf(agent, 'abandoned')).not.toEqual([]);
    expect(ends.length - failed.length).toBeGreaterThan(endedBefore); // calls that started late could
    await vi.waitUntil(async () => (await journalOf(agent, 'release')).length === 0, 60_000);
    for (const { uid } of [...gone, ...going]) held.delete(uid);
    const again = coming.filter(({ uid }) => !held.has(uid));
    await Promise.all([...again, ...staying].map((pod) => add(pod, 'b')));
    expect(staying.map(({ uid }) => held.get(uid))).toEqual(stayed);
    expect(new Set(held.values()).size).toBe(coming.length + staying.length);
    await vi.waitFor(async () => expect(await recordedAddresses()).toEqual([...held].sort()), 60_000);

    for (const pod of [...coming, ...staying]) await cluster.deletePod(pod);
    for (const pod of [...again, ...staying]) expect(await plugin('DEL', pod, 'b')).toEqual(DONE);
    for (const pod of coming) expect(await plugin('DEL', pod)).toEqual(DONE);
    await vi.waitUntil(async () => (await cluster.records()).length === 0, 60_000);
    expect(await journalOf(agent, 'release')).toEqual([]);
  });
});

describe('the API server is killed and comes back', () => {
  test('the ADDs that waited are answered', async () => {
    // A server that has just started refuses requests that it allows a second later; a load balancer waits until it is ready.
    await using balancer = await startTcpProxy(cluster.ledger.port);
    await using agent = await startAgentOf(cluster, { port: balancer.port });
    await agent.untilReady();
    const [warm, ...pods] = await podsNamed('patient', 11);
    await agent.add(warm as Pod);
    for (const pod of pods) await agent.call('POST', ADMIN_PATHS.explain, addArgsOf(pod)); // now the agent has them in its cache
    balancer.refuse();
    await cluster.ledger.server.kill();
    const adding = pods.map((pod) => agent.addressesOf(pod, { timeoutMs: 120_000 }));
    await cluster.ledger.server.restart();
    await balancer.accept();
    expect(new Set((await Promise.all(adding)).flat()).size).toBe(pods.length);
    await expectOneRecordEach([warm as Pod, ...pods]);
  });
});

describe('a create that arrives after its caller got an error', () => {
  /** The create of the ADD reaches the paused server, which does not learn that the caller gave up. */
  async function abandon(second: ApiServer, proxy: TcpProxy, agent: AgentAtWork, pod: Pod, more = {}): Promise<void> {
    await pauseForSure(second);
    const failing = agent.tryAdd(pod, { timeoutMs: 12_000, containerID: 'c1', ...more });
    await wait(2_000); // enough to send it, and less than one try may take
    proxy.hold();
    expect(await failing).toMatchObject({ status: 500, body: { reason: 'outcome-unknown' } });
    expect(await journalOf(agent, 'abandoned')).toHaveLength(1);
  }

  test('never leaves two records for one interface, and the other address is kept', async () => {
    await using second = await cluster.ledger.server.secondServer();
    await using proxy = await startTcpProxy(Number(new URL(second.url).port));
    await using agent = await startAgentOf(cluster, { port: proxy.port });
    await agent.untilReady();
    const [warm, pod] = await podsNamed('late', 2);
    await agent.add(warm as Pod);
    await agent.call('POST', ADMIN_PATHS.explain, addArgsOf(pod as Pod)); // now it knows the pod
    await abandon(second, proxy, agent, pod as Pod);
    second.resume();
    const landed = await vi.waitUntil(
      async () => (await cluster.records()).find(({ spec }) => spec.holder.uid === pod?.uid),
      20_000,
    );
    expect(landed.spec.holder.containerID).toBe('c1');
    proxy.release();
    proxy.cut();
    const [address] = await agent.addressesOf(pod as Pod, { containerID: 'c2' });
    await vi.waitUntil(async () => (await cluster.records()).length === 2, 30_000);
    const own = (await cluster.records()).filter(({ spec }) => spec.holder.uid === pod?.uid);
    expect(own.map(({ spec }) => [spec.address, spec.holder.containerID])).toEqual([[address, 'c2']]);
    await wait(3_000); // another round of the journal
    expect(await cluster.records()).toHaveLength(2);
  });

  test('and that arrives only after the retry was answered is released', async () => {
    await using second = await cluster.ledger.server.secondServer();
    await using stuck = await startTcpProxy(Number(new URL(second.url).port));
    await using agent = await startAgentOf(cluster, { port: stuck.port });
    await agent.untilReady();
    const [warm, pod] = await podsNamed('later', 2);
    await agent.add(warm as Pod);
    await agent.call('POST', ADMIN_PATHS.explain, addArgsOf(pod as Pod)); // now it knows the pod
    const late = '10.0.0.99'; // not what the retry chooses, or the retry would be there first
    await abandon(second, stuck, agent, pod as Pod, { requestedIPs: [late] });
    await agent.stop();
    // The agent is restarted, with another server.
    await using next = await startAgentOf(cluster, { directory: agent.directory });
    const [address] = await next.addressesOf(pod as Pod, { containerID: 'c2' });
    const records = cluster.ledger.controller();
    await using seen = await follow(records, records, { resource: IP_RECORDS });
    expect([...seen.known.keys()]).not.toContain(late);
    second.resume();
    const isLate = (event: WatchEvent) => event.type === 'Added' && event.object.metadata.name === late;
    const landed = await vi.waitUntil(() => seen.events.find(isLate), 30_000);
    expect(landed).toMatchObject({ object: { spec: { holder: { uid: pod?.uid, containerID: 'c1' } } } });
    await vi.waitUntil(() => !seen.known.has(late), 30_000);
    const own = (await cluster.records()).filter(({ spec }) => spec.holder.uid === pod?.uid);
    expect(own.map(({ spec }) => [spec.address, spec.holder.containerID])).toEqual([[address, 'c2']]);
    expect(await cluster.records()).toHaveLength(2);
  });
});
