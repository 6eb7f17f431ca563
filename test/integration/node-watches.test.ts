import { pino } from 'pino';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { AdoptionWatch } from '#agent/cluster/adoption-marker.ts';
import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { NAMESPACES, NODES, PODS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { callApi } from '#test/support/api-request.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { CONFIG_MAPS, clientOf } from './kube-things.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import {
  DEPLOYMENTS,
  type Eyes,
  made,
  newPod,
  newPool,
  openEyes,
  readsDuring,
  WORKLOAD,
} from './node-watches-world.ts';

let cluster: LedgerCluster;
let admin: KubeClient;
let deployment: KubeObject;
let replicaSet: KubeObject;

let names = 0;
/** A test that is retried must not find its own leftovers. */
const fresh = (name: string) => `${name}-${++names}`;
const namedIn = (name: string) => ({ namespace: 'prod', name });
const controlledBy = (apiVersion: string, kind: string, { metadata }: KubeObject) => ({
  ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
});
const until = (holds: () => boolean) => vi.waitUntil(holds, 60_000);
const argsOf = ({ metadata }: KubeObject): AddArgs => ({
  containerID: 'c1',
  ifName: 'eth0',
  netNamespace: '',
  podNamespace: 'prod',
  podName: metadata.name,
  podUID: metadata.uid,
});
const removeNow = async ({ metadata }: KubeObject) => {
  const path = `/api/v1/namespaces/prod/pods/${metadata.name}?gracePeriodSeconds=0`;
  await fetchAsAdmin('DELETE', path);
};

async function fetchAsAdmin(method: string, path: string): Promise<void> {
  const { status } = await callApi(cluster.server, { method, path, token: cluster.server.adminToken });
  if (status > 299) throw new Error(`${method} ${path}: ${status}`);
}

beforeAll(async () => {
  cluster = await startLedgerCluster();
  admin = clientOf(cluster.server);
  await made(admin.patch(NODES, { name: 'worker-1' }, { metadata: { labels: { zone: 'a' } } }));
  const annotations = { 'ipam.spidernet.io/default-ipv4-ippool': '["first"]' };
  await made(admin.create(NAMESPACES, { metadata: { name: 'prod', labels: { team: 'a' }, annotations } }));
  deployment = await made(admin.create(DEPLOYMENTS, { metadata: namedIn('web'), spec: WORKLOAD }));
  const above = controlledBy('apps/v1', 'Deployment', deployment);
  replicaSet = await made(admin.create(REPLICA_SETS, { metadata: { ...namedIn('web-1'), ...above }, spec: WORKLOAD }));
  await made(admin.create(POOLS, newPool('first', 1)));
  await made(admin.create(RESERVED_IPS, { metadata: { name: 'r' }, spec: { ips: ['10.1.0.20'] } }));
  return async () => {
    admin[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

const podOfWeb = (name: string) =>
  made(
    admin.create(PODS, newPod(name, { labels: { app: 'web' }, ...controlledBy('apps/v1', 'ReplicaSet', replicaSet) })),
  );

/** The watch has shown it: what is measured afterwards is the steady state. */
async function untilShown(eyes: Eyes, { metadata }: KubeObject): Promise<void> {
  await until(() => eyes.pods.known(metadata.uid) !== null);
}

describe('with the rights of an agent', () => {
  test('a call is known by its pod, with its owner, node and namespace', async () => {
    await using eyes = await openEyes(cluster.agent());
    const pod = await podOfWeb(fresh('known'));
    expect(await eyes.holders.resolve(argsOf(pod))).toMatchObject({
      holder: {
        kind: 'Pod',
        namespace: 'prod',
        name: pod.metadata.name,
        uid: pod.metadata.uid,
        node: 'worker-1',
        owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
      request: {
        node: { labels: { zone: 'a' } },
        namespace: { labels: { 'kubernetes.io/metadata.name': 'prod', team: 'a' } },
        pod: { labels: { app: 'web' } },
        controller: { kind: 'Deployment', name: 'web', uid: deployment.metadata.uid },
      },
      isSticky: false,
    });
  });

  test('hundreds of calls in the steady state read nothing', async () => {
    await using eyes = await openEyes(cluster.agent());
    const pods = await Promise.all(Array.from({ length: 4 }, () => podOfWeb(fresh('steady'))));
    for (const pod of pods) await untilShown(eyes, pod);
    for (const pod of pods) await eyes.holders.resolve(argsOf(pod));
    const reads = await readsDuring(cluster.server, async () => {
      for (let round = 0; round < 100; round += 1) {
        await Promise.all(pods.map((pod) => eyes.holders.resolve(argsOf(pod))));
      }
    });
    expect(reads).toEqual({});
  });

  test('kubelet may be faster than the watch', async () => {
    await using eyes = await openEyes(cluster.agent());
    for (let turn = 0; turn < 20; turn += 1) {
      const pod = await podOfWeb(fresh('fast'));
      const found = await eyes.pods.find({ ...namedIn(pod.metadata.name), uid: pod.metadata.uid });
      expect(found?.uid).toBe(pod.metadata.uid);
      expect(eyes.pods.known(pod.metadata.uid)?.isAlive).toBe(true);
    }
  });

  test('a pod of another node is refused, and not kept', async () => {
    await using eyes = await openEyes(cluster.agent());
    const name = fresh('elsewhere');
    const pod = await made(admin.create(PODS, newPod(name, {}, 'worker-2')));
    await expect(eyes.pods.find({ ...namedIn(name), uid: '' })).rejects.toThrow(
      `pod prod/${name} is on node worker-2, and this agent serves worker-1`,
    );
    expect(eyes.pods.known(pod.metadata.uid)).toBeNull();
  });

  test('the adoption is waited for', async () => {
    const path = '/api/v1/namespaces/ipledger/configmaps/ipledger-adopted';
    await callApi(cluster.server, { method: 'DELETE', path, token: cluster.server.adminToken });
    await using marker = new AdoptionWatch(cluster.agent(), 'ipledger', pino({ level: 'silent' }));
    await made(admin.create(CONFIG_MAPS, { metadata: { name: fresh('another'), namespace: 'ipledger' } }));
    expect(marker.isAdopted).toBe(false);
    await made(admin.create(CONFIG_MAPS, { metadata: { name: 'ipledger-adopted', namespace: 'ipledger' } }));
    await marker.adopted;
    expect(marker.isAdopted).toBe(true);
  });
});

describe('the end of a pod', () => {
  test('is reported once, at its deletion mark, and not again when the object is gone', async () => {
    await using eyes = await openEyes(cluster.agent());
    const ended: string[] = [];
    using _listening = eyes.pods.onEnd((uid) => void ended.push(uid));
    const held = await made(admin.create(PODS, newPod(fresh('held'), { finalizers: ['test.io/hold'] })));
    await untilShown(eyes, held);
    await removeNow(held);
    await until(() => ended.length > 0);
    expect(eyes.pods.known(held.metadata.uid)).toMatchObject({ isAlive: false, endedBecause: 'it is being deleted' });
    await expect(eyes.holders.resolve(argsOf(held))).rejects.toThrow('is dead: it is being deleted');
    await made(admin.patch(PODS, namedIn(held.metadata.name), { metadata: { finalizers: null } }));
    await until(() => eyes.pods.known(held.metadata.uid) === null);
    expect(ended).toEqual([held.metadata.uid]);
  });

  test('a pod made anew under its name is found at once, and the one before is gone', async () => {
    await using eyes = await openEyes(cluster.agent());
    const ended: string[] = [];
    using _listening = eyes.pods.onEnd((uid) => void ended.push(uid));
    const name = fresh('again');
    let before = await podOfWeb(name);
    for (let turn = 0; turn < 10; turn += 1) {
      await removeNow(before);
      const next = await podOfWeb(name);
      expect((await eyes.pods.find({ ...namedIn(name), uid: next.metadata.uid }))?.uid).toBe(next.metadata.uid);
      expect(await eyes.pods.find({ ...namedIn(name), uid: before.metadata.uid })).toBeNull();
      expect(eyes.pods.known(before.metadata.uid)).toBeNull();
      before = next;
    }
    await untilShown(eyes, before);
    expect(eyes.pods.known(before.metadata.uid)?.isAlive).toBe(true);
    expect(new Set(ended).size).toBe(ended.length);
    expect(ended).not.toContain(before.metadata.uid);
  });

  test('comes through an outage, during which what is known is still found', async () => {
    await using proxy = await startTcpProxy(cluster.port);
    await using eyes = await openEyes(cluster.agent({ port: proxy.port }));
    const [gone, stays] = [await podOfWeb(fresh('out')), await podOfWeb(fresh('out'))];
    for (const pod of [gone, stays]) await untilShown(eyes, pod);
    proxy.refuse();
    proxy.cut();
    await removeNow(gone);
    expect(await eyes.pods.find({ ...namedIn(stays.metadata.name), uid: stays.metadata.uid })).toMatchObject({
      isAlive: true,
    });
    await expect(eyes.pods.find({ ...namedIn('unknown'), uid: 'x' })).rejects.toMatchObject({
      reason: 'api-server-unavailable',
      message: expect.stringMatching(/^cannot read pod prod\/unknown: /),
    });
    expect(eyes.pods.known(gone.metadata.uid)).not.toBeNull();
    await proxy.accept();
    await until(() => eyes.pods.known(gone.metadata.uid) === null);
    expect(eyes.pods.known(stays.metadata.uid)).toMatchObject({ isAlive: true });
  });
});

describe('pools', () => {
  test('a full start is lists, whatever the number of pools', async () => {
    for (let n = 0; n < 30; n += 1) await made(admin.create(POOLS, newPool(fresh('many'), 100 + n)));
    const reads = await readsDuring(cluster.server, async () => {
      await using eyes = await openEyes(cluster.agent());
      expect(eyes.pools.current().pools.size).toBeGreaterThanOrEqual(31);
      expect(eyes.pools.current().problems).toEqual([]);
      expect(eyes.pools.current().reserved[4].size).toBe(1n);
    });
    expect(reads).toMatchObject({ spiderippools: 2, spiderreservedips: 1 });
  });

  test('status writes cause no read and no change, a new generation exactly one', async () => {
    await using eyes = await openEyes(cluster.agent());
    let changes = 0;
    using _listening = eyes.pools.onChange(() => {
      changes += 1;
    });
    const before = eyes.pools.current().pools.get('first');
    const reads = await readsDuring(cluster.server, async () => {
      for (let count = 1; count <= 25; count += 1) {
        const status = { totalIPCount: 81, allocatedIPCount: count };
        await made(admin.patch(POOLS, { name: 'first' }, { status }, { subresource: 'status' }));
      }
      expect(eyes.pools.current().pools.get('first')).toBe(before);
      await made(admin.patch(POOLS, { name: 'first' }, { spec: { disable: before?.isDisabled !== true } }));
      await until(() => eyes.pools.current().pools.get('first') !== before);
    });
    expect(reads).toEqual({ spiderippools: 1 });
    expect(changes).toBe(1);
  });

  test('a new, a broken, a terminating and a deleted pool', async () => {
    await using eyes = await openEyes(cluster.agent());
    const problemsOf = (name: string) => eyes.pools.current().problems.filter((it) => it.includes(` ${name}: `));
    const poolNamed = (name: string) => eyes.pools.current().pools.get(name);
    const name = fresh('life');
    await made(admin.create(POOLS, newPool(name, 2, { finalizers: ['test.io/hold'] })));
    await until(() => poolNamed(name) !== undefined);
    await made(admin.patch(POOLS, { name }, { metadata: { annotations: { 'ipledger.io/domain': 'NOT A LABEL' } } }));
    await until(() => poolNamed(name) === undefined);
    expect(problemsOf(name)).toEqual([
      expect.stringMatching(/^SpiderIPPool life-\d+: metadata.annotations.*is not used until it is corrected$/),
    ]);
    await made(admin.patch(POOLS, { name }, { metadata: { annotations: { 'ipledger.io/domain': 'blue' } } }));
    await until(() => poolNamed(name)?.domain === 'blue');
    await fetchAsAdmin('DELETE', `/apis/spiderpool.spidernet.io/v2beta1/spiderippools/${name}`);
    await until(() => poolNamed(name)?.isTerminating === true);
    await made(admin.patch(POOLS, { name }, { metadata: { finalizers: null } }));
    await until(() => poolNamed(name) === undefined);
    expect(problemsOf(name)).toEqual([]);
  });
});
