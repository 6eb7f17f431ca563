import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { CLIENT_HEADER, PATHS } from '#pkg/agentapi/wire.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { type AgentAtWork, addArgsOf, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const PODS = '/api/v1/namespaces/default/pods';
const APPS = '/apis/apps/v1/namespaces/default';
const BATCH = '/apis/batch/v1/namespaces/default';
const IPPOOL = 'ipam.spidernet.io/ippool';

let cluster: PodCluster;
let agent: AgentAtWork;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
  agent = await startAgentOf(cluster);
  await agent.untilReady();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

const recordsOf = async (uid: string) => (await cluster.records()).filter(({ spec }) => spec.holder.uid === uid);

describe('which pods are served', () => {
  test.each([
    { name: 'succeeded', status: { phase: 'Succeeded' }, restartPolicy: 'Never', because: 'it has succeeded' },
    { name: 'failed', status: { phase: 'Failed' }, restartPolicy: 'Never', because: 'it has failed' },
    { name: 'finished', status: { phase: 'Succeeded' }, restartPolicy: 'Always', because: 'it has succeeded' },
    {
      name: 'evicted',
      status: { phase: 'Failed', reason: 'Evicted' },
      restartPolicy: 'Always',
      because: 'it was evicted',
    },
  ] as const)(
    'a pod that has $name is refused, and the error says why',
    async ({ name, status, restartPolicy, because }) => {
      const pod = await cluster.createPod({ name, restartPolicy });
      await cluster.patch(`${PODS}/${name}/status`, { status });
      await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, { timeout: 20_000, interval: 200 });
      const { reason, message } = await agent.refusal(pod);
      expect(reason).toBe('unknown-pod');
      expect(message).toContain(`default/${name}`);
      expect(message).toContain(because);
    },
  );

  test('a pod that is being deleted is refused', async () => {
    const pod = await cluster.createPod({ name: 'leaving', finalizers: ['example.com/wait'] });
    await cluster.remove(`${PODS}/leaving`);
    await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, { timeout: 20_000, interval: 200 });
    expect((await agent.refusal(pod)).message).toContain('it is being deleted');
    await cluster.patch(`${PODS}/leaving`, { metadata: { finalizers: null } });
  });

  test('the UID of another pod, a pod that is not there, one of another node, and a call without a pod are refused', async () => {
    const pod = await cluster.createPod({ name: 'known' });
    const elsewhere = await cluster.createPod({ name: 'elsewhere', node: 'worker-2' });
    const nobody = { namespace: 'default', name: 'nobody', uid: 'u-1' };
    expect((await agent.refusal(pod, { podUID: 'another' })).message).toContain('with UID another');
    expect((await agent.refusal(nobody)).message).toContain('pod default/nobody with UID u-1 does not exist');
    expect((await agent.refusal(elsewhere)).message).toContain('is on node worker-2, and this agent serves worker-1');
    expect((await agent.refusal(pod, { podName: '' })).message).toContain('K8S_POD_NAME');
    expect(await cluster.records()).toEqual([]);
  });

  test('a mirror pod is known by the UID of the static pod behind it', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'static-uid-1' };
    const mirror = await cluster.createPod({ name: 'static-worker-1', annotations });
    await agent.add({ ...mirror, uid: 'static-uid-1' });
    expect(await recordsOf('static-uid-1')).toHaveLength(1);
    expect((await agent.refusal(mirror)).reason).toBe('unknown-pod');
    await cluster.deletePod(mirror);
    await cluster.createPod({ name: 'static-worker-1', annotations }); // kubelet creates the mirror pod again, the containers run on
    const [before] = await recordsOf('static-uid-1');
    await agent.del({ ...mirror, uid: 'static-uid-1' });
    await agent.add({ ...mirror, uid: 'static-uid-1' }, { containerID: 'c2' });
    expect((await recordsOf('static-uid-1'))[0]?.name).toBe(before?.name);
  });

  test('a pod of the same name with a new UID is read while the watch still shows the old one', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using slow = await startAgentOf(cluster, { port: proxy.port, node: 'worker-2' });
    await slow.untilReady();
    const old = await cluster.createPod({ name: 'twin', node: 'worker-2' });
    const [first] = await slow.addressesOf(old);
    proxy.delay(700);
    await cluster.deletePod(old);
    const young = await cluster.createPod({ name: 'twin', node: 'worker-2' });
    const [second] = await slow.addressesOf(young);
    expect(second).not.toBe(first);
    proxy.delay(0);
    await slow.del(old);
    expect((await cluster.records()).map(({ spec }) => [spec.address, spec.holder.uid])).toEqual([[second, young.uid]]);
  });
});

describe('the controller at the top', () => {
  const template = {
    metadata: { labels: { app: 'x' } },
    spec: { containers: [{ name: 'c', image: 'c' }], restartPolicy: 'Never' },
  };
  const selector = { matchLabels: { app: 'x' } };
  const ownerOf = (apiVersion: string, kind: string, { metadata }: { metadata: { name: string; uid: string } }) => ({
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
  });
  const labels = {
    'ipam.spidernet.io/owner-application-name': 'x',
    'ipam.spidernet.io/owner-application-uid': 'c-1',
  };
  const madeFor = (group: string, version: string, kind: string, name: string) => ({
    matchLabels: {
      'ipam.spidernet.io/app-api-group': group,
      'ipam.spidernet.io/app-api-version': version,
      'ipam.spidernet.io/app-kind': kind,
      'ipam.spidernet.io/app-namespace': 'default',
      'ipam.spidernet.io/app-name': name,
    },
  });
  const annotations = { [IPPOOL]: '{"ipv4": ["auto-*"]}' };
  type Made = { metadata: { name: string; uid: string } };

  beforeAll(async () => {
    for (const [third, kind, group, version] of [
      [51, 'Deployment', 'apps', 'v1'],
      [52, 'CronJob', 'batch', 'v1'],
      [53, 'CloneSet', 'apps.kruise.io', 'v1alpha1'],
    ] as const) {
      const podAffinity = madeFor(group, version, kind, 'shop');
      const spec = { subnet: `10.${third}.0.0/24`, ips: [`10.${third}.0.10-10.${third}.0.20`], podAffinity };
      await cluster.createPool(`auto-${kind.toLowerCase()}`, spec, { labels });
    }
  });

  test('of a ReplicaSet is its Deployment: the pool made for it serves the pod, and pools made for others do not', async () => {
    const restarts = { ...template, spec: { ...template.spec, restartPolicy: 'Always' } };
    const deployment = await cluster.post<Made>(`${APPS}/deployments`, {
      metadata: { name: 'shop' },
      spec: { selector, template: restarts },
    });
    const ownerReferences = [{ ...ownerOf('apps/v1', 'Deployment', deployment), controller: true }];
    const set = await cluster.post<Made>(`${APPS}/replicasets`, {
      metadata: { name: 'shop-1', ownerReferences },
      spec: { selector, template: restarts },
    });
    const pod = await cluster.createPod({
      name: 'shop-1-a',
      labels: { app: 'x' },
      annotations,
      owner: ownerOf('apps/v1', 'ReplicaSet', set),
    });
    const { ips } = await agent.add(pod);
    expect(ips.map(({ ipPool }) => ipPool)).toEqual(['auto-deployment']);
    expect(await cluster.records()).toMatchObject([
      { spec: { holder: { owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' } } } },
    ]);
    const forged = await cluster.createPod({
      name: 'forged',
      labels: { app: 'other' },
      annotations,
      owner: ownerOf('apps/v1', 'ReplicaSet', set),
    });
    expect((await agent.refusal(forged)).details).toContain('Deployment default/shop wants pods with other labels');
    const bare = await cluster.createPod({ name: 'bare', annotations });
    const { reason, details } = await agent.refusal(bare);
    expect(reason).toBe('no-eligible-pool');
    expect(details).toContain('auto-deployment: it was made for one application, the pod has no controller');
  });

  test('of a Job is its CronJob', async () => {
    const cron = await cluster.post<Made>(`${BATCH}/cronjobs`, {
      metadata: { name: 'shop' },
      spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
    });
    const ownerReferences = [{ ...ownerOf('batch/v1', 'CronJob', cron), controller: true }];
    const job = await cluster.post<Made>(`${BATCH}/jobs`, {
      metadata: { name: 'shop-1', ownerReferences },
      spec: { template },
    });
    const owned = { labels: { app: 'x' }, annotations };
    const pod = await cluster.createPod({ name: 'shop-1-b', ...owned, owner: ownerOf('batch/v1', 'Job', job) });
    const { ips } = await agent.add(pod);
    expect(ips.map(({ ipPool }) => ipPool)).toEqual(['auto-cronjob']);
  });

  test("of a third party's kind is taken as it is, and an owner that is gone too", async () => {
    const clones = { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'shop', uid: 'c-1' };
    const pod = await cluster.createPod({ name: 'clone', annotations, owner: clones });
    expect((await agent.add(pod)).ips.map(({ ipPool }) => ipPool)).toEqual(['auto-cloneset']);
    const forged = await cluster.createPod({ name: 'forged-clone', annotations, owner: { ...clones, uid: 'c-2' } });
    expect((await agent.refusal(forged)).details).toContain(
      'pool auto-cloneset was not made for the CloneSet default/shop with UID c-2',
    );
    const gone = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone', uid: 'r-1' };
    await agent.add(await cluster.createPod({ name: 'orphan', owner: gone }));
    expect(await cluster.records()).toContainEqual(
      expect.objectContaining({
        spec: expect.objectContaining({
          holder: expect.objectContaining({ owner: expect.objectContaining({ kind: 'ReplicaSet' }) }),
        }),
      }),
    );
  });
});

describe('one interface, many calls', () => {
  test('twenty ADDs at once are answered alike and leave one record', async () => {
    const pod = await cluster.createPod({ name: 'many' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => agent.addressesOf(pod)));
    expect(new Set(answers.flat()).size).toBe(1);
    expect(await cluster.records()).toHaveLength(1);
  });

  test('when one of two callers goes away, the other is answered, and the DEL leaves no record', async () => {
    for (let round = 0; round < 10; round += 1) {
      const pod = await cluster.createPod({ name: `fickle-${round}` });
      const text = JSON.stringify(addArgsOf(pod));
      const headers = { [CLIENT_HEADER]: 'test', 'content-length': Buffer.byteLength(text) };
      const fickle = request({ socketPath: agent.socket, path: PATHS.ip, method: 'POST', headers, agent: false });
      fickle.on('error', () => {});
      fickle.end(text);
      setTimeout(() => fickle.destroy(), round);
      const [address] = await agent.addressesOf(pod);
      expect((await recordsOf(pod.uid)).map(({ name }) => name)).toEqual([address]);
      await cluster.deletePod(pod);
      await vi.waitUntil(async () => {
        await agent.del(pod);
        return (await recordsOf(pod.uid)).length === 0;
      }, 20_000);
    }
  });

  test('a record that was deleted and taken by another holder is not answered again', async () => {
    const pod = await cluster.createPod({ name: 'robbed' });
    const [address = ''] = await agent.addressesOf(pod);
    await cluster.remove(`/apis/ipledger.io/v1alpha1/iprecords/${address}`);
    await using other = await startAgentOf(cluster, { node: 'worker-2' });
    const thief = await cluster.createPod({ name: 'thief', node: 'worker-2' });
    expect(await other.addressesOf(thief, { requestedIPs: [address] })).toEqual([address]);
    const [next] = await agent.addressesOf(pod);
    expect(next).not.toBe(address);
    await cluster.deletePod(pod);
    await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, 20_000);
    await agent.del(pod);
    expect((await cluster.records()).map(({ spec }) => spec.holder.name)).toEqual(['thief']);
  });

  test('a new sandbox of a living pod keeps its address, which is released when the pod ends', async () => {
    const pod = await cluster.createPod({ name: 'restarted' });
    const first = await agent.addressesOf(pod, { containerID: 'c1' });
    await agent.del(pod, { containerID: 'c1' });
    expect(await cluster.records()).toHaveLength(1);
    expect(await agent.addressesOf(pod, { containerID: 'c2' })).toEqual(first);
    await agent.del(pod, { containerID: 'c1' }); // late, and twice
    expect(await recordsOf(pod.uid)).toMatchObject([{ spec: { holder: { containerID: 'c2' } } }]);
    await agent.del(pod, { containerID: 'c2' });
    await cluster.deletePod(pod);
    await vi.waitUntil(async () => (await cluster.records()).length === 0, 20_000);
  });

  test('a kept address is released when the pod succeeds', async () => {
    const pod = await cluster.createPod({ name: 'job', restartPolicy: 'Never' });
    await agent.add(pod);
    await agent.del(pod);
    expect(await cluster.records()).toHaveLength(1);
    await cluster.patch(`${PODS}/job/status`, { status: { phase: 'Succeeded' } });
    await vi.waitUntil(async () => (await cluster.records()).length === 0, 20_000);
  });
});
