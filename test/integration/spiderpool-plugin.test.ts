import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { callAsSpiderpool } from '#test/support/spiderpool-call.ts';
import { createSet } from './owners.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;
let agent: AgentAtWork;

beforeAll(async () => {
  cluster = await startPodCluster();
  const pool = (second: number, more = {}) => ({
    subnet: `10.${second}.0.0/24`,
    ips: [`10.${second}.0.10`],
    gateway: `10.${second}.0.1`,
    ...more,
  });
  await cluster.createPool('first', pool(1, { default: true, routes: [{ dst: '10.9.0.0/16', gw: '10.1.0.2' }] }));
  await cluster.createPool('second', pool(2));
  agent = await startAgentOf(cluster, { config: { enableIPv6: false } });
  await agent.untilReady();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

const probed = { enableGatewayDetection: false, enableIPConflictDetection: false };
const ETH0 = { version: 4, address: '10.1.0.10/24', nic: 'eth0', ipPool: 'first', gateway: '10.1.0.1', ...probed };
const NET1 = { version: 4, address: '10.2.0.10/24', nic: 'net1', ipPool: 'second', gateway: '10.2.0.1', ...probed };
const ROUTES_OF_ETH0 = [
  { ifName: 'eth0', dst: '10.9.0.0/16', gw: '10.1.0.2' },
  { ifName: 'eth0', dst: '0.0.0.0/0', gw: '10.1.0.1' },
];

const sandboxOf = ({ uid }: Pod, life = 'a') => `${life}${uid.replaceAll('-', '')}`;
const whoIs = ({ namespace, name, uid }: Pod) => ({ podName: name, podNamespace: namespace, podUID: uid });
const call = (method: string, path: string, body?: object) =>
  callAsSpiderpool(agent.socket, method, `/v1/${path}`, body);

/** Go encodes a missing list as null, and leaves out false. */
function tryAdd(pod: Pod, ifName: string, { life, ...more }: { life?: string; defaultIPv4IPPool?: string[] } = {}) {
  const lists = { defaultIPv4IPPool: null, defaultIPv6IPPool: null, ...more };
  const sandbox = { containerID: sandboxOf(pod, life), ifName, netNamespace: '/proc/self/ns/net' };
  return call('POST', 'ipam/ip', {
    ...(ifName === 'net1' ? { cleanGateway: true } : {}),
    ...lists,
    ...sandbox,
    ...whoIs(pod),
  });
}

async function add(...args: Parameters<typeof tryAdd>): Promise<unknown> {
  expect(await call('GET', 'ipam/healthy')).toMatchObject({ status: 200, body: '', isClosed: true });
  const { status, type, isClosed, body } = await tryAdd(...args);
  expect([status, type, isClosed]).toEqual([200, 'application/json', true]);
  return JSON.parse(body);
}

async function del(pod: Pod, ifName: string): Promise<void> {
  expect(await call('GET', 'ipam/healthy')).toMatchObject({ status: 200, body: '' });
  const args = { containerID: sandboxOf(pod), ifName, netNamespace: '/proc/self/ns/net', ...whoIs(pod) };
  expect(await call('DELETE', 'ipam/ip', args)).toMatchObject({ status: 200, body: '' });
}

const endpointOf = ({ namespace, name }: Pod) =>
  call('GET', `workloadendpoint?podName=${name}&podNamespace=${namespace}`);
const untilNothingIsHeld = () => vi.waitUntil(async () => (await cluster.records()).length === 0, 20_000);

test('for a pod with two interfaces every answer contains all addresses recorded so far', async () => {
  const pod = await cluster.createPod({ name: 'web' });
  expect(await add(pod, 'eth0')).toEqual({ ips: [ETH0], routes: ROUTES_OF_ETH0 });
  const both = { ips: [ETH0, NET1], routes: ROUTES_OF_ETH0 };
  expect(await add(pod, 'net1', { defaultIPv4IPPool: ['second'] })).toEqual(both);
  const recorded = await cluster.records();
  const holder = { kind: 'Pod', namespace: 'default', name: 'web', uid: pod.uid, containerID: sandboxOf(pod) };
  expect(recorded.map(({ spec }) => [spec.address, spec.state, spec.holder])).toEqual([
    ['10.1.0.10', 'Allocated', expect.objectContaining({ ...holder, interface: 'eth0', node: 'worker-1' })],
    ['10.2.0.10', 'Allocated', expect.objectContaining({ ...holder, interface: 'net1', node: 'worker-1' })],
  ]);
  for (const { spec } of recorded) expect(spec.holder).not.toHaveProperty('network');

  expect([await add(pod, 'eth0'), await add(pod, 'net1', { defaultIPv4IPPool: ['second'] })]).toEqual([both, both]);
  expect(await cluster.records()).toEqual(recorded);
  const endpoint = await endpointOf(pod);
  expect([endpoint.status, JSON.parse(endpoint.body)]).toMatchObject([
    200,
    {
      ...whoIs(pod),
      node: 'worker-1',
      interfaces: [
        { interface: 'eth0', ipv4: '10.1.0.10/24', ipv4Pool: 'first', ipv4Gateway: '10.1.0.1' },
        { interface: 'net1', ipv4: '10.2.0.10/24', ipv4Pool: 'second', ipv4Gateway: '10.2.0.1' },
      ],
    },
  ]);

  await cluster.deletePod(pod);
  await del(pod, 'net1');
  await vi.waitUntil(async () => (await cluster.records()).length === 1, 20_000);
  expect((await cluster.records()).map(({ spec }) => spec.holder.interface)).toEqual(['eth0']);
  await del(pod, 'eth0');
  await untilNothingIsHeld();
  expect((await endpointOf(pod)).status).toBe(404);
  await del(pod, 'eth0');
});

test('a new sandbox gets the addresses of the previous one', async () => {
  const pod = await cluster.createPod({ name: 'restarted' });
  await add(pod, 'eth0');
  const before = await cluster.records();
  await del(pod, 'eth0');
  expect(await add(pod, 'eth0', { life: 'b' })).toEqual({ ips: [ETH0], routes: ROUTES_OF_ETH0 });
  expect(await cluster.records()).toMatchObject([
    { uid: before[0]?.uid, spec: { holder: { containerID: sandboxOf(pod, 'b') } } },
  ]);
});

test('an error is status 500 and one JSON string', async () => {
  const [first, second] = [await cluster.createPod({ name: 'holds' }), await cluster.createPod({ name: 'waits' })];
  await add(first, 'eth0');
  const full = await tryAdd(second, 'eth0');
  expect([full.status, full.type, JSON.parse(full.body)]).toEqual([
    500,
    'application/json',
    expect.stringContaining('first 1/1 used'),
  ]);
  const stranger = await tryAdd({ ...second, uid: 'of-one-before' }, 'eth0');
  expect([stranger.status, JSON.parse(stranger.body)]).toEqual([500, expect.stringContaining('of-one-before')]);
  expect((await cluster.records()).map(({ spec }) => spec.holder.name)).toEqual(['holds']);
});

test.each([{ isGone: false }, { isGone: true }])(
  'DELETE /ipam/ips gives back what every interface has, of a pod that lives and of one that is gone: %o',
  async ({ isGone }) => {
    const pod = await cluster.createPod({ name: `batch-${isGone}` });
    await add(pod, 'eth0');
    await add(pod, 'net1', { defaultIPv4IPPool: ['second'] });
    expect(await cluster.records()).toHaveLength(2);
    if (isGone) await cluster.deletePod(pod);
    const all = { containerID: sandboxOf(pod), ...whoIs(pod) };
    expect(await call('DELETE', 'ipam/ips', all)).toMatchObject({ status: 200, body: '' });
    await untilNothingIsHeld();
  },
);

test('a release because of a conflict is 522 for a pod of a StatefulSet, and 521 where it is switched off', async () => {
  const owner = await createSet(cluster, 'db', 1);
  const pod = await cluster.createPod({ name: 'db-0', owner });
  await add(pod, 'eth0');
  const all = { containerID: sandboxOf(pod), isReleaseConflictIPs: true, ...whoIs(pod) };
  const sticky = await call('DELETE', 'ipam/ips', all);
  expect([sticky.status, JSON.parse(sticky.body)]).toEqual([522, expect.stringContaining('10.1.0.10')]);
  const variables = { SPIDERPOOL_ENABLED_RELEASE_CONFLICT_IPS: 'false' };
  await using without = await startAgentOf(cluster, { node: 'worker-2', variables });
  const refused = await callAsSpiderpool(without.socket, 'DELETE', '/v1/ipam/ips', all);
  expect([refused.status, JSON.parse(refused.body)]).toEqual([521, expect.stringContaining('switched off')]);
  expect(await cluster.records()).toMatchObject([{ spec: { state: 'Allocated', holder: { name: 'db-0' } } }]);
});
