import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { startControllerProgram } from './controller-program.ts';
import { addArgsOf, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const SPIDER = '/apis/spiderpool.spidernet.io/v2beta1';
const MARKER = '/api/v1/namespaces/ipledger/configmaps/ipledger-adopted';
const PATIENCE = { timeout: 60_000, interval: 100 };

let cluster: PodCluster;

beforeEach(async () => {
  cluster = await startPodCluster({ isAdopted: false });
  return () => cluster[Symbol.asyncDispose]();
});

const records = async () => new Map((await cluster.records()).map((record) => [record.name, record.spec]));

async function gaveOut(allocated: Readonly<Record<string, { pod: string; podUid?: string }>>): Promise<void> {
  const status = {
    allocatedIPs: JSON.stringify(allocated),
    allocatedIPCount: Object.keys(allocated).length,
  };
  const path = `${SPIDER}/spiderippools/v4/status`;
  const { server } = cluster.ledger;
  const type = 'application/merge-patch+json';
  const patched = await callApi(server, { method: 'PATCH', path, type, body: { status }, token: server.adminToken });
  expect(patched.status).toBe(200);
}

async function createEndpoint(pod: Omit<Pod, 'uid'>, address: string, owner: object, uid = ''): Promise<void> {
  await createEndpointWith(pod, { interface: 'eth0', ipv4: `${address}/24`, ipv4Pool: 'v4' }, owner, uid);
}

async function createEndpointWith(pod: Omit<Pod, 'uid'>, ip: object, owner: object, uid: string): Promise<void> {
  const { namespace, name } = pod;
  const ips = [ip];
  await cluster.post(`${SPIDER}/namespaces/${namespace}/spiderendpoints`, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderEndpoint',
    metadata: { name },
    status: { ...owner, current: { uid, node: 'worker-1', ips } },
  });
}

/** A pod with an address from Spiderpool, with the objects that Spiderpool wrote for it. */
async function wasServedBySpiderpool(pods: Readonly<Record<string, Pod>>): Promise<void> {
  const entries = Object.entries(pods);
  const allocated = entries.map(([address, { namespace, name, uid }]) => [
    address,
    { interface: 'eth0', pod: `${namespace}/${name}`, podUid: uid },
  ]);
  await gaveOut(Object.fromEntries(allocated));
  for (const [address, pod] of entries) {
    const owner = { ownerControllerType: 'Pod', ownerControllerName: pod.name };
    await createEndpoint(pod, address, owner, pod.uid);
  }
}

async function importState(): Promise<{ code: number; stdout: string }> {
  const { server } = cluster.ledger;
  const kubeconfig = join(server.dir, 'operator.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
  const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-16T10:00:00Z') });
  const code = await runCtl(['import'], { kubeconfig }, terminal);
  return { code, stdout: terminal.stdout };
}

test('live pods of Spiderpool keep their addresses through import, restart, DEL and collection', async () => {
  await cluster.createPool('v4', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.13'], default: true });
  const [restarts, ends, rests] = [
    await cluster.createPod({ name: 'restarts' }),
    await cluster.createPod({ name: 'ends' }),
    await cluster.createPod({ name: 'rests' }),
  ];
  await wasServedBySpiderpool({ '10.0.0.10': restarts, '10.0.0.11': ends, '10.0.0.12': rests });

  await using controller = await startControllerProgram({ cluster: cluster.ledger }, 'upgrade');
  await vi.waitUntil(() => controller.lines.some(({ msg }) => String(msg).includes('ipledgerctl import')), PATIENCE);
  await using agent = await startAgentOf(cluster);
  const early = await cluster.createPod({ name: 'early' });
  expect((await agent.tryAdd(early, { timeoutMs: 500 })).status).not.toBe(200);
  expect(await records()).toEqual(new Map());

  expect(await importState()).toMatchObject({ code: 0 });
  const adopted = await records();
  expect([...adopted.keys()].sort()).toEqual(['10.0.0.10', '10.0.0.11', '10.0.0.12']);
  expect(adopted.get('10.0.0.10')?.holder).toMatchObject({ uid: restarts.uid, node: 'worker-1', interface: 'eth0' });
  expect(adopted.get('10.0.0.10')?.holder).not.toHaveProperty('containerID');

  await agent.untilReady();
  const { containerID } = addArgsOf(restarts, { containerID: 'new-sandbox' });
  const { ips } = await agent.add(restarts, { containerID });
  expect(ips.map(({ address }) => address)).toEqual(['10.0.0.10/24']);
  expect((await records()).get('10.0.0.10')?.holder).toMatchObject({ uid: restarts.uid, containerID });

  await cluster.deletePod(ends);
  await vi.waitUntil(async () => {
    await agent.del(ends, { containerID: 'known-to-spiderpool-alone' });
    return !(await records()).has('10.0.0.11');
  }, PATIENCE);

  const free = await agent.add(early);
  expect(['10.0.0.11/24', '10.0.0.13/24']).toContain(free.ips[0]?.address);
  const last = await agent.add(await cluster.createPod({ name: 'last' }));
  expect(new Set([free.ips[0]?.address, last.ips[0]?.address])).toEqual(new Set(['10.0.0.11/24', '10.0.0.13/24']));
  const full = await agent.tryAdd(await cluster.createPod({ name: 'one-too-many' }));
  expect(full.body).toMatchObject({ reason: 'pools-exhausted' });

  // The controller waited for the import too, and now its projections show the records.
  await vi.waitUntil(async () => {
    const path = `${SPIDER}/spiderippools/v4`;
    const { server } = cluster.ledger;
    const { body } = await callApi(server, { path, token: server.adminToken });
    const { status } = body as { status: { allocatedIPCount: number; allocatedIPs: string } };
    const shown = JSON.parse(status.allocatedIPs) as Record<string, { podUid: string }>;
    return status.allocatedIPCount === 4 && shown['10.0.0.12']?.podUid === rests.uid && '10.0.0.13' in shown;
  }, PATIENCE);
  expect((await records()).get('10.0.0.12')).toMatchObject({ state: 'Allocated', holder: { uid: rests.uid } });
});

test('a pod without a default route and with routes of its own has no other after the import', async () => {
  const gateway = '10.0.0.1';
  const routes = [{ dst: '10.9.0.0/16', gw: gateway }];
  await cluster.createPool('v4', { subnet: '10.0.0.0/24', ips: ['10.0.0.10'], default: true, gateway, routes });
  const pod = await cluster.createPod({ name: 'second-nic' });
  await gaveOut({ '10.0.0.10': { pod: 'default/second-nic', podUid: pod.uid } });
  const network = { interface: 'eth0', ipv4: '10.0.0.10/24', ipv4Pool: 'v4', ipv4Gateway: gateway };
  const wayOut = { cleanGateway: true, routes: [...routes, { dst: '10.8.1.1/16', gw: '10.0.0.2' }] };
  const owner = { ownerControllerType: 'Pod', ownerControllerName: pod.name };
  await createEndpointWith(pod, { ...network, ...wayOut }, owner, pod.uid);

  expect(await importState()).toMatchObject({ code: 0 });
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  expect(await agent.add(pod, { containerID: 'new-sandbox' })).toMatchObject({
    ips: [{ address: '10.0.0.10/24', gateway }],
    routes: [
      { ifName: 'eth0', dst: '10.9.0.0/16', gw: gateway },
      { ifName: 'eth0', dst: '10.8.0.0/16', gw: '10.0.0.2' },
    ],
  });
});

test('pods of a StatefulSet of which Spiderpool noted no uid leave their addresses to the next of their name', async () => {
  await cluster.createPool('v4', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.13'], default: true });
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const set = {
    metadata: { name: 'web' },
    spec: { replicas: 2, serviceName: 'web', selector: { matchLabels: labels } },
  };
  const path = '/apis/apps/v1/namespaces/default/statefulsets';
  const { metadata } = await cluster.post<{ metadata: { uid: string } }>(path, {
    ...set,
    spec: { ...set.spec, template },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: metadata.uid };
  const lives = await cluster.createPod({ name: 'web-0', owner });
  await gaveOut({ '10.0.0.10': { pod: 'default/web-0' }, '10.0.0.11': { pod: 'default/web-1' } });
  const isOwned = { ownerControllerType: 'StatefulSet', ownerControllerName: 'web' };
  await createEndpoint({ namespace: 'default', name: 'web-1' }, '10.0.0.11', isOwned);

  expect(await importState()).toMatchObject({ code: 0 });
  expect((await records()).get('10.0.0.10')?.holder).toMatchObject({ uid: lives.uid, node: 'worker-1' });
  await using _controller = await startControllerProgram({ cluster: cluster.ledger }, 'no-uid');
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();

  await cluster.deletePod(lives);
  await vi.waitUntil(async () => {
    await agent.del(lives, { containerID: 'known-to-spiderpool-alone' });
    return (await records()).get('10.0.0.10')?.state === 'Retained';
  }, PATIENCE);
  const next = { 'web-0': '10.0.0.10/24', 'web-1': '10.0.0.11/24' };
  for (const [name, address] of Object.entries(next)) {
    const pod = await cluster.createPod({ name, owner });
    await vi.waitUntil(async () => (await agent.tryAdd(pod)).status === 200, PATIENCE);
    expect((await agent.add(pod)).ips).toMatchObject([{ address }]);
  }
});

test('a Spiderpool without any allocation is not adopted before it has lost its rights', async () => {
  const { server } = cluster.ledger;
  const marker = async () => (await callApi(server, { path: MARKER, token: server.adminToken })).status;
  await kubectl(server, ['create', 'serviceaccount', 'spiderpool-agent', '--namespace=default']);
  const right = ['--verb=update', '--resource=spiderippools/status'];
  await kubectl(server, ['create', 'clusterrole', 'spiderpool-agent', ...right]);
  const bound = ['--clusterrole=spiderpool-agent', '--serviceaccount=default:spiderpool-agent'];
  await kubectl(server, ['create', 'clusterrolebinding', 'spiderpool-agent', ...bound]);
  await using controller = await startControllerProgram({ cluster: cluster.ledger }, 'early');
  const isAsking = () => controller.lines.some(({ msg }) => String(msg).includes('ipledgerctl import'));
  await vi.waitUntil(isAsking, PATIENCE);
  const refused = await importState();
  expect([refused.code, await marker()]).toEqual([1, 404]);
  expect(refused.stdout).toContain('may still give out addresses: service account default/spiderpool-agent');
  await kubectl(server, ['delete', 'clusterrolebinding', 'spiderpool-agent']);
  expect(await importState()).toMatchObject({ code: 0 });
  expect(await marker()).toBe(200);
});
