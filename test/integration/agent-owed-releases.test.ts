import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { callApi } from '#test/support/api-request.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { journalOf } from './journal-files.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

interface Role {
  readonly rules: readonly { readonly verbs: readonly string[] }[];
}

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.250'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

/** A pod whose address the agent will release at its DEL, because the watch has reported its deletion. */
async function addAndForget(agent: AgentAtWork, pod: Pod): Promise<string[]> {
  const addresses = await agent.addressesOf(pod);
  await cluster.deletePod(pod);
  await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, 20_000);
  return addresses;
}

/** A static pod: its uid stays the same when its mirror pod is deleted and created again, so its sandbox may be added again. */
async function createMirror(name: string): Promise<Pod> {
  const uid = `static-${name}`;
  return { ...(await cluster.createPod({ name, annotations: { 'kubernetes.io/config.mirror': uid } })), uid };
}

describe('a DEL while the API server is away', () => {
  test('succeeds, survives a restart of the agent, and is done later', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using agent = await startAgentOf(cluster, { port: proxy.port });
    await agent.untilReady();
    const pod = await cluster.createPod({ name: 'owed' });
    await addAndForget(agent, pod);
    proxy.refuse();
    proxy.cut();
    await agent.del(pod);
    expect(await journalOf(agent, 'release')).toHaveLength(1);
    await agent.stop();
    expect(await cluster.records()).toHaveLength(1);
    await using next = await startAgentOf(cluster, { directory: agent.directory });
    await next.untilReady();
    expect(await cluster.records()).toEqual([]);
    expect(await journalOf(next)).toEqual([]);
  });

  test('that is followed by an ADD of the same sandbox does not release the record of that ADD', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using agent = await startAgentOf(cluster, { port: proxy.port });
    await agent.untilReady();
    const pod = await createMirror('again');
    await addAndForget(agent, pod);
    proxy.refuse();
    proxy.cut();
    await agent.del(pod);
    expect(await journalOf(agent, 'release')).toHaveLength(1);
    await createMirror('again');
    await proxy.accept();
    const answered = await agent.addressesOf(pod);
    await vi.waitUntil(async () => (await journalOf(agent, 'release')).length === 0, 20_000);
    await wait(2_500); // another round of the journal
    expect((await cluster.records()).map(({ spec }) => spec.address)).toEqual(answered);
    expect(await agent.addressesOf(pod)).toEqual(answered);
  });
});

describe('a DEL that the API server refuses', () => {
  const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipledger-agent';
  const BINDING = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/ipledger-agent';
  const AGENT = '--as=system:serviceaccount:ipledger:ipledger-agent';
  const mayDelete = () =>
    kubectl(cluster.ledger.server, ['auth', 'can-i', 'delete', 'iprecords.ipledger.io', AGENT]).then(
      () => true,
      () => false,
    );

  test('because the role of the agent was removed: it succeeds, and is done once the role is back', async () => {
    await using agent = await startAgentOf(cluster);
    await agent.untilReady();
    const pod = await cluster.createPod({ name: 'refused' });
    await addAndForget(agent, pod);
    await cluster.remove(BINDING);
    try {
      await vi.waitUntil(async () => !(await mayDelete()), 20_000);
      await agent.del(pod);
      expect(await journalOf(agent, 'release')).toHaveLength(1);
      expect(agent.log.filter((line) => line.includes('release not done, written to the journal'))).toHaveLength(1);
      expect(await cluster.records()).toHaveLength(1);
    } finally {
      await applyManifests(cluster.ledger.server, 'rbac.yaml');
    }
    await vi.waitUntil(async () => (await cluster.records()).length === 0, 60_000);
    await vi.waitUntil(async () => (await journalOf(agent)).length === 0);
  });

  test('and an ADD of the same sandbox that follows: the ADD changes the record, and no release hits it any more', async () => {
    await using agent = await startAgentOf(cluster);
    await agent.untilReady();
    const pod = await createMirror('refused-again');
    const addresses = await addAndForget(agent, pod);
    const [before] = await cluster.records();
    const { server } = cluster.ledger;
    const { rules } = (await callApi(server, { path: ROLE, token: server.adminToken })).body as Role;
    const withoutDelete = rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') }));
    await cluster.patch(ROLE, { rules: withoutDelete });
    try {
      await vi.waitUntil(async () => !(await mayDelete()), 20_000);
      await agent.del(pod);
      expect(await journalOf(agent, 'release')).toHaveLength(1);
      await createMirror('refused-again');
      expect(await agent.addressesOf(pod)).toEqual(addresses);
      expect(await journalOf(agent, 'release')).toEqual([]);
    } finally {
      await cluster.patch(ROLE, { rules });
    }
    await vi.waitUntil(mayDelete, 20_000);
    const [after] = await cluster.records();
    expect(after?.resourceVersion).not.toBe(before?.resourceVersion);
    await agent.stop();
    await using next = await startAgentOf(cluster, { directory: agent.directory });
    await next.untilReady(); // which includes settling the journal
    expect(await cluster.records()).toEqual([after]);
  });
});
