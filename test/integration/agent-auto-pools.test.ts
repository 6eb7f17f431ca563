import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { autoPoolLabels } from '#pkg/autopool/identity.ts';
import { formatShortages, SHORTAGE_CONDITION } from '#pkg/autopool/shortage.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { type AutoPoolKey, applicationAffinity } from '#pkg/pool/auto-pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const SPIDER = '/apis/spiderpool.spidernet.io/v2beta1';
const APPS = '/apis/apps/v1/namespaces/default';
const SUBNET = 'ipam.spidernet.io/subnet';
const SUBNETS = 'ipam.spidernet.io/subnets';

let cluster: PodCluster;
let agent: AgentAtWork;
let made = 0;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('default', { subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.99'], default: true });
  await cluster.post(`${SPIDER}/spidersubnets`, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name: 'office' },
    spec: { subnet: '10.6.0.0/16', ips: ['10.6.0.10-10.6.200.250'] },
  });
  agent = await startAgentOf(cluster);
  await agent.untilReady();
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

interface Application extends Controller {
  readonly replicaSet: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
}

/** As kubectl and the controllers of Kubernetes leave it: a Deployment and its ReplicaSet. */
async function deploy(): Promise<Application> {
  made += 1;
  const name = `web-${made}`;
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } };
  const spec = { selector: { matchLabels: labels }, template };
  type Stored = { metadata: { uid: string } };
  const deployment = await cluster.post<Stored>(`${APPS}/deployments`, { metadata: { name }, spec });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: deployment.metadata.uid };
  const set = await cluster.post<Stored>(`${APPS}/replicasets`, {
    metadata: { name: `${name}-1`, ownerReferences: [{ ...owner, controller: true }] },
    spec,
  });
  const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-1`, uid: set.metadata.uid };
  return { ...owner, namespace: 'default', replicaSet };
}

function podOf({ name, replicaSet }: Application, annotations: object, labels = { app: name }): Promise<Pod> {
  made += 1;
  const texts = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, JSON.stringify(value)]));
  return cluster.createPod({ name: `${name}-${made}`, labels, annotations: texts, owner: replicaSet });
}

/** As the controller makes it. */
async function makePool(
  application: Controller,
  key: Partial<AutoPoolKey> = {},
): Promise<{ name: string; ips: string[] }> {
  made += 1;
  const { subnet = 'office', interface: nic = 'eth0', family = 4 } = key;
  const cidr = family === 4 ? '10.6.0.0/16' : 'fd00:6::/64';
  const ips = family === 4 ? [`10.6.${made}.10-10.6.${made}.11`] : [`fd00:6::${made}:10-fd00:6::${made}:11`];
  const labels = autoPoolLabels(
    { subnet, application, interface: nic, family },
    { reclaim: true, cidr: parseCidr(cidr) },
  );
  const name = `auto${family}-${application.name}-${nic}-${made}`;
  const podAffinity = { matchLabels: applicationAffinity(application) };
  await cluster.createPool(name, { subnet: cidr, ips, podAffinity }, { labels });
  return { name, ips };
}

const FROM_OFFICE = { [SUBNET]: { ipv4: ['office'] } };

describe('a pod whose template names a subnet', () => {
  test('waits for the pool of its Deployment, and gets an address the moment it is there', async () => {
    const web = await deploy();
    const waiting = agent.add(await podOf(web, FROM_OFFICE));
    await vi.waitUntil(() => agent.gauge('waiting-adds') === 1, 10_000);
    const { name } = await makePool(web);
    expect((await waiting).ips.map(({ ipPool }) => ipPool)).toEqual([name]);
  });

  test('both families, and another interface from another pool', async () => {
    const web = await deploy();
    const items = [
      { interface: 'eth0', ipv4: ['office'], ipv6: ['office-6'] },
      { interface: 'net1', ipv4: ['lab'] },
    ];
    const four = await makePool(web);
    const six = await makePool(web, { family: 6, subnet: 'office-6' });
    const lab = await makePool(web, { subnet: 'lab', interface: 'net1' });
    const pod = await podOf(web, { [SUBNETS]: items });
    expect((await agent.add(pod)).ips.map(({ ipPool }) => ipPool).toSorted()).toEqual([four.name, six.name]);
    const { ips } = await agent.add(pod, { ifName: 'net1' });
    expect(ips.filter(({ nic }) => nic === 'net1').map(({ ipPool }) => ipPool)).toEqual([lab.name]);
  });

  test('waits while its pool is full, until the pool grows', async () => {
    const web = await deploy();
    const { name } = await makePool(web);
    for (let i = 0; i < 2; i += 1) await agent.add(await podOf(web, FROM_OFFICE));
    const waiting = agent.addressesOf(await podOf(web, FROM_OFFICE));
    await vi.waitUntil(() => agent.gauge('waiting-adds') === 1, 10_000);
    await cluster.patch(`${SPIDER}/spiderippools/${name}`, { spec: { ips: ['10.6.0.10'] } });
    expect(await waiting).toEqual(['10.6.0.10']);
  });

  test('is told what the controller says about its application when time is over, and so is who asks with explain', async () => {
    const web = await deploy();
    const why = 'required 10, left 3';
    const message = formatShortages([{ application: web, interface: 'eth0', why }]);
    const condition = {
      type: SHORTAGE_CONDITION,
      status: 'True',
      reason: 'TooFew',
      message,
      lastTransitionTime: '2026-11-16T10:00:00Z',
    };
    await cluster.patch(`${SPIDER}/spidersubnets/office/status`, { status: { conditions: [condition] } });
    const pod = await podOf(web, FROM_OFFICE);
    const expected = `IPv4 pool of Deployment default/${web.name} from subnet office: there is no pool yet; the controller says: ${why}`;
    expect(await agent.refusal(pod, { timeoutMs: 3_000 })).toMatchObject({
      reason: 'auto-pool-missing',
      message: expect.stringContaining(expected),
    });
    const explained = await agent.call('POST', '/v1/ledger/explain', {
      containerID: 'explain',
      ifName: 'eth0',
      netNamespace: '',
      podNamespace: 'default',
      podName: pod.name,
      podUID: '',
    });
    expect(JSON.stringify(explained.body)).toContain(expected);
  });

  test('of a Deployment that was deleted without its pods and made again follows its ReplicaSet', async () => {
    const web = await deploy();
    await makePool(web);
    await agent.add(await podOf(web, FROM_OFFICE));
    const adopter = await deploy();
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: adopter.name, uid: adopter.uid, controller: true };
    const path = `${APPS}/replicasets/${web.replicaSet.name}`;
    await cluster.patch(path, { metadata: { ownerReferences: [owner] } });
    await cluster.remove(`${APPS}/deployments/${web.name}`);
    await cluster.remove(`${SPIDER}/spiderippools/${(await poolsOf(web.uid))[0]}`).catch(() => {});
    const pool = await makePool(adopter);
    await sleep(5_500); // an owner is not read anew more often
    const pod = await podOf({ ...adopter, replicaSet: web.replicaSet }, FROM_OFFICE);
    await vi.waitUntil(async () => {
      const { status, body } = await agent.tryAdd(pod, { timeoutMs: 3_000 });
      return status === 200 && JSON.stringify(body).includes(pool.name);
    }, 20_000);
  });
});

async function poolsOf(uid: string): Promise<string[]> {
  const selector = encodeURIComponent(`ipam.spidernet.io/owner-application-uid=${uid}`);
  const { items } = await cluster.read<{ items: { metadata: { name: string } }[] }>(
    `${SPIDER}/spiderippools?labelSelector=${selector}`,
  );
  return items.map(({ metadata }) => metadata.name);
}

describe('a pod that only says that it is of an application', () => {
  test.each<{ name: string; labels?: { app: string }; owner: (web: Application) => object; says: string }>([
    {
      name: 'has other labels',
      labels: { app: 'forged' },
      owner: (web) => web.replicaSet,
      says: 'wants pods with other labels',
    },
    {
      name: 'names the Deployment itself',
      owner: ({ apiVersion, kind, name, uid }) => ({ apiVersion, kind, name, uid }),
      says: 'a Deployment controls its pods through a ReplicaSet',
    },
  ])('and $name gets no address of its pool', async ({ labels, owner, says }) => {
    const web = await deploy();
    await makePool(web);
    const replicaSet = owner(web) as Application['replicaSet'];
    const pod = await podOf({ ...web, replicaSet }, FROM_OFFICE, labels ?? { app: web.name });
    const { reason, details } = await agent.refusal(pod);
    expect(reason).toBe('no-eligible-pool');
    expect(details).toContain(says);
    expect(await cluster.records()).toEqual([]);
  });
});

test('a pod that repeats the uid of a deleted application gets no address of its pool, though one of that name is there again', async () => {
  const web = await deploy();
  await makePool(web);
  await cluster.remove(`${APPS}/deployments/${web.name}`);
  const labels = { app: web.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } };
  const again = { metadata: { name: web.name }, spec: { selector: { matchLabels: labels }, template } };
  const { metadata } = await cluster.post<{ metadata: { uid: string } }>(`${APPS}/deployments`, again);
  const { reason, details } = await agent.refusal(await podOf(web, FROM_OFFICE));
  expect(reason).toBe('no-eligible-pool');
  expect(details).toContain(`has UID ${metadata.uid}, and the pod names ${web.uid}`);
  expect(await cluster.records()).toEqual([]);
});

test('an ADD that finds its pool ready costs one create and no read', async () => {
  const web = await deploy();
  await makePool(web);
  await agent.add(await podOf(web, FROM_OFFICE));
  const second = await podOf(web, FROM_OFFICE);
  await sleep(500); // the watch shows the pod: a faster ADD would read it
  const before = await countRequests();
  await agent.add(second);
  const after = await countRequests();
  expect(after).toEqual({ ...before, 'iprecords POST': (before['iprecords POST'] ?? 0) + 1 });
});

async function countRequests(): Promise<Record<string, number>> {
  const { server } = cluster.ledger;
  const counts: Record<string, number> = {};
  for (const resource of ['iprecords', 'deployments', 'replicasets', 'spidersubnets', 'spiderippools', 'pods']) {
    for (const verb of resource === 'iprecords' ? ['GET', 'LIST', 'POST', 'PUT', 'DELETE'] : ['GET', 'LIST'])
      counts[`${resource} ${verb}`] = await server.requestCount({ resource, verb });
  }
  return counts;
}
