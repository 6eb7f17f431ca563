import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ErrorBody, PATHS } from '#pkg/agentapi/wire.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster({ isAdopted: false });
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const spooled = async ({ directory }: AgentAtWork) =>
  (await readdir(join(directory, 'spool'))).filter((name) => name.endsWith('.json') && !name.startsWith('.'));

test('a cluster whose addresses were not taken over: STATUS 50 says so, ADD waits and ends with 11, then is served', async () => {
  await using agent = await startAgentOf(cluster);
  await vi.waitUntil(async () => {
    const { status, body } = await agent.call<ErrorBody>('GET', PATHS.status);
    return status === 503 && body.message.includes('ipledger-adopted');
  }, 30_000);
  const { body } = await agent.call<ErrorBody>('GET', PATHS.status);
  expect(REASONS[body.reason as keyof typeof REASONS].cni).toBe(50);
  const pod = await cluster.createPod({ name: 'early' });
  const { reason, message } = await agent.refusal(pod, { timeoutMs: 1_000 });
  expect(REASONS[reason as keyof typeof REASONS].cni).toBe(11);
  expect(message).toContain('ipledger-adopted');
  for (const [path, args] of [
    [PATHS.check, { containerID: 'c', ifName: 'eth0', podNamespace: 'd', podName: 'p', podUID: 'u', ips: [] }],
    [PATHS.gc, { network: 'lab', validAttachments: [] }],
  ] as const) {
    const answer = await agent.call<ErrorBody>('POST', path, args);
    expect(answer.body.reason).toBe('agent-unavailable');
  }
  expect(await cluster.records()).toEqual([]);
  const waiting = agent.addressesOf(pod, { timeoutMs: 60_000 });
  await agent.del(pod, { containerID: 'somebody-else' });
  expect(await spooled(agent)).toHaveLength(1);
  await cluster.adopt();
  expect(await waiting).toHaveLength(1);
  expect((await agent.call('GET', PATHS.status)).status).toBe(200);
  expect(await spooled(agent)).toEqual([]);
});

test('a DEL that comes before the agent knows its records is written down and done before the first answer', async () => {
  await using before = await startAgentOf(cluster);
  const pod = await cluster.createPod({ name: 'short' });
  await before.add(pod);
  await before.stop();
  await cluster.deletePod(pod);
  await using proxy = await startTcpProxy(cluster.ledger.port);
  proxy.refuse();
  await using agent = await startAgentOf(cluster, { port: proxy.port });
  await agent.del(pod);
  expect(await spooled(agent)).toHaveLength(1);
  expect((await cluster.records()).some(({ spec }) => spec.holder.uid === pod.uid)).toBe(true);
  const status = await agent.call<ErrorBody>('GET', PATHS.status);
  expect([status.status, status.body.reason]).toEqual([503, 'not-ready']);
  await proxy.accept();
  await agent.untilReady();
  expect((await cluster.records()).some(({ spec }) => spec.holder.uid === pod.uid)).toBe(false);
  expect(await spooled(agent)).toEqual([]);
});

test('an agent that was synced once stays ready while the API server is away', async () => {
  await using proxy = await startTcpProxy(cluster.ledger.port);
  await using agent = await startAgentOf(cluster, { port: proxy.port });
  await agent.untilReady();
  proxy.refuse();
  proxy.cut();
  await wait(2_000);
  expect((await agent.call('GET', PATHS.status)).status).toBe(200);
});

test('an agent that never reaches the API server stops on SIGTERM', async () => {
  await using proxy = await startTcpProxy(cluster.ledger.port);
  proxy.refuse();
  await using agent = await startAgentOf(cluster, { port: proxy.port });
  const pod = await cluster.createPod({ name: 'never' });
  const waiting = agent.tryAdd(pod, { timeoutMs: 60_000 });
  await wait(200);
  const begun = performance.now();
  await agent.stop();
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect((await waiting).body).toMatchObject({ reason: 'agent-unavailable' });
});

test('GC releases records that the runtime does not list and whose pod is gone, and no others', async () => {
  await cluster.ledger.clear();
  await using agent = await startAgentOf(cluster, { node: 'worker-2' });
  await agent.untilReady();
  const born = (name: string) => cluster.createPod({ name, node: 'worker-2' });
  const [living, gone, valid, other, lingering] = [
    await born('living'),
    await born('gone'),
    await born('valid'),
    await born('other'),
    await born('lingering'),
  ];
  const netNamespace = join(agent.directory, 'netns-of-gone');
  await writeFile(netNamespace, '');
  for (const pod of [living, valid, lingering]) await agent.add(pod);
  await agent.add(gone, { netNamespace });
  await agent.add(other, { network: 'another' });
  for (const pod of [gone, valid, other, lingering]) await cluster.deletePod(pod);
  await vi.waitUntil(async () => {
    const answers = await Promise.all([gone, valid, other, lingering].map((pod) => agent.tryAdd(pod)));
    return answers.every(({ status }) => status !== 200);
  }, 20_000);
  await rm(netNamespace);
  const validAttachments = [{ containerID: valid.uid.replaceAll('-', ''), ifName: 'eth0' }];
  const answer = await agent.call('POST', PATHS.gc, { network: 'lab', validAttachments });
  expect(answer.body).toEqual({ released: 1 });
  expect((await cluster.records()).map(({ spec }) => spec.holder.name).sort()).toEqual([
    'lingering', // its namespace is still there: the runtime's list alone proves nothing
    'living',
    'other',
    'valid',
  ]);
  const missing = await agent.call<ErrorBody>('POST', PATHS.gc, { network: 'lab' });
  expect(missing.body.reason).toBe('bad-input');
});

test('CHECK succeeds with the answer of the ADD, and names a difference', async () => {
  await cluster.ledger.clear();
  await using agent = await startAgentOf(cluster);
  const pod = await cluster.createPod({ name: 'checked' });
  const { ips } = await agent.add(pod);
  const args = {
    containerID: pod.uid.replaceAll('-', ''),
    ifName: 'eth0',
    podNamespace: 'default',
    podName: 'checked',
    podUID: pod.uid,
  };
  const check = (shown: readonly { address: string }[]) =>
    agent.call<ErrorBody>('POST', PATHS.check, { ...args, ips: shown });
  expect((await check(ips.map(({ address }) => ({ address })))).status).toBe(200);
  const { body } = await check([{ address: '10.0.0.250/24' }]);
  expect(body.reason).toBe('check-failed');
  expect(body.message).toContain('10.0.0.250');
  await cluster.remove(`/apis/ipledger.io/v1alpha1/iprecords/${ips[0]?.address.split('/')[0]}`);
  const lost = await check(ips.map(({ address }) => ({ address })));
  expect(lost.body.message).toContain('no address is recorded');
});
