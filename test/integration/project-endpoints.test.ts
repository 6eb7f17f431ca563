import { setTimeout } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { EndpointRules } from '#controller/project/plan-endpoint.ts';
import { projectEndpoints } from '#controller/project/project-endpoints.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { ENDPOINTS, FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Holder } from '#pkg/record/ip-record.ts';
import { amended } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { eventually, remove, removeAll, sure } from './spider-objects.ts';

const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod' };
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const NO_STATUS = {
  current: { uid: 'u', node: 'n', ips: [] },
  ownerControllerType: 'Pod',
  ownerControllerName: 'web-0',
};
const AT = { namespace: 'default', name: 'web-0' };

let cluster: LedgerCluster;
let admin: KubeClient;
let ledger: Ledger;

beforeAll(async () => {
  cluster = await startLedgerCluster();
  admin = clientOf(cluster.server);
  ledger = openKubernetesLedger(cluster.controller());
  return async () => {
    admin[Symbol.dispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

beforeEach(async () => {
  await cluster.clear();
  await removeAll(admin, ENDPOINTS);
  const pod = await admin.get(PODS, AT);
  if (pod.ok) await kubectl(cluster.server, ['delete', 'pod', AT.name, '--force', '--grace-period=0', '--wait=true']);
});

async function lead(
  rules: Partial<EndpointRules> = {},
  log: Logger = silent,
  debounceMs = 300,
): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  const client = cluster.controller();
  const views = stack.use(watchAsLeader(client));
  const all = { enableStatefulSet: true, enableCleanOutdatedEndpoint: false, ...rules };
  stack.use(
    projectEndpoints({
      client,
      log,
      now: () => new Date(),
      isLeader: () => true,
      records: views.records,
      endpoints: views.endpoints,
      pods: views.pods,
      rules: all,
      debounceMs,
    }),
  );
  await Promise.all([views.records.synced, views.endpoints.synced, views.pods.synced]);
  return stack;
}

const makePod = () =>
  sure(admin.create(PODS, { metadata: AT, spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'worker-1' } }));
const take = async (address: string, holder: Partial<Holder>) => {
  const outcome = await ledger.create(heldBy(specOf(address), { ...AT, owner: DEPLOYMENT, ...holder }));
  if (!outcome.taken) throw new Error(`${address} is taken`);
  return outcome.record;
};
const endpointIs = (assert: (endpoint: KubeObject | null) => void) => eventually(admin, ENDPOINTS, AT, assert);

test('an endpoint is created with the records of a pod, follows them, and is deleted with them', async () => {
  await using _ = await lead();
  const { metadata } = await makePod();
  const first = await take('10.0.0.1', { uid: metadata.uid });
  await endpointIs((endpoint) => {
    expect(endpoint?.metadata.finalizers).toBeUndefined();
    expect(endpoint?.metadata.ownerReferences).toBeUndefined();
    expect(endpoint?.['status']).toEqual({
      ownerControllerType: 'Deployment',
      ownerControllerName: 'web',
      current: {
        uid: metadata.uid,
        node: 'worker-1',
        ips: [{ interface: 'eth0', ipv4: '10.0.0.1/24', ipv4Pool: 'pool-a', vlan: 0 }],
      },
    });
  });
  const second = await take('fd00::1', { uid: metadata.uid });
  await endpointIs((endpoint) =>
    expect(endpoint?.['status']).toMatchObject({
      current: { ips: [{ interface: 'eth0', ipv4: '10.0.0.1/24', ipv6: 'fd00::1/64' }] },
    }),
  );
  const printed = await kubectl(cluster.server, ['get', 'se', 'web-0', '--no-headers']);
  expect(printed.trim().split(/\s+/)).toEqual([
    'web-0',
    'eth0',
    'pool-a',
    '10.0.0.1/24',
    'pool-a',
    'fd00::1/64',
    'worker-1',
  ]);
  await ledger.release(first);
  await ledger.release(second);
  await endpointIs((endpoint) => expect(endpoint).toBeNull());
});

test('an endpoint that is changed or deleted by hand is restored', async () => {
  await using _ = await lead();
  const { metadata } = await makePod();
  await take('10.0.0.1', { uid: metadata.uid });
  await endpointIs((endpoint) => expect(endpoint).not.toBeNull());
  const before = await sure(admin.get(ENDPOINTS, AT));
  const forged = { metadata: { labels: { a: 'b' } }, status: { current: { node: 'elsewhere', ips: [] } } };
  await sure(admin.patch(ENDPOINTS, AT, forged));
  await endpointIs((endpoint) => {
    expect(endpoint?.['status']).toEqual(before['status']);
    expect(endpoint?.metadata.labels).toEqual({ a: 'b' });
  });
  await remove(admin, ENDPOINTS, before);
  await endpointIs((endpoint) => {
    expect(endpoint?.metadata.uid).not.toBe(before.metadata.uid);
    expect(endpoint?.['status']).toEqual(before['status']);
  });
});

test('a pod of a StatefulSet keeps its endpoint from one pod to the next', async () => {
  await using _ = await lead();
  const record = await take('10.0.0.1', { owner: { ...DEPLOYMENT, kind: 'StatefulSet' } });
  await endpointIs((endpoint) => expect(endpoint).not.toBeNull());
  const { metadata } = await sure(admin.get(ENDPOINTS, AT));
  const retained = await amended(ledger, record, inState(record.spec, 'Retained'));
  await take('10.0.0.2', { interface: 'net1', owner: { ...DEPLOYMENT, kind: 'StatefulSet' } });
  await endpointIs((endpoint) => {
    expect(endpoint?.metadata.uid).toBe(metadata.uid);
    expect(endpoint?.['status']).toMatchObject({ current: { ips: [{ interface: 'eth0' }, { interface: 'net1' }] } });
  });
  await ledger.release(retained);
  await endpointIs((endpoint) =>
    expect(endpoint?.['status']).toMatchObject({ current: { ips: [{ interface: 'net1', ipv4: '10.0.0.2/24' }] } }),
  );
});

test('a pod that came back to an earlier pool is shown with the address that it has', async () => {
  await using _ = await lead();
  const owner = { ...DEPLOYMENT, kind: 'StatefulSet' };
  const { metadata } = await makePod();
  const older = await take('10.0.0.1', { owner });
  const retained = await amended(ledger, older, inState(older.spec, 'Retained'));
  await setTimeout(1_100); // creationTimestamp has whole seconds
  const younger = await take('10.0.0.2', { owner });
  await amended(ledger, younger, inState(younger.spec, 'Retained'));
  await ledger.takeOver(retained, heldBy(inState(retained.spec, 'Allocated'), { uid: metadata.uid }));
  await endpointIs((endpoint) =>
    expect(endpoint?.['status']).toMatchObject({
      current: { uid: metadata.uid, ips: [{ interface: 'eth0', ipv4: '10.0.0.1/24' }] },
    }),
  );
});

test.each([
  { name: 'of our own', isOwned: false },
  { name: 'of Spiderpool, with an owner and a finalizer,', isOwned: true },
])('the endpoint $name of a deleted pod shows its address until the record is freed', async ({ isOwned }) => {
  await using _ = await lead();
  const pod = await makePod();
  const owner = { apiVersion: 'v1', kind: 'Pod', name: AT.name, uid: pod.metadata.uid };
  const legacy = { metadata: { ...AT, finalizers: [FINALIZER], ownerReferences: [owner] }, status: NO_STATUS };
  if (isOwned) await sure(admin.create(ENDPOINTS, legacy));
  const record = await take('10.0.0.1', { uid: pod.metadata.uid });
  const shown = { current: { ips: [{ ipv4: '10.0.0.1/24' }] } };
  await endpointIs((endpoint) => expect(endpoint?.['status']).toMatchObject(shown));
  await kubectl(cluster.server, ['delete', 'pod', AT.name, '--force', '--grace-period=0', '--wait=true']);
  // What the garbage collector of a cluster does to an object with an owner; there is none here.
  if (isOwned) await remove(admin, ENDPOINTS, await sure(admin.get(ENDPOINTS, AT)));
  // By the time the other one is there, this one has been looked at.
  const other = await take('10.0.0.9', { name: 'web-9', owner: { ...DEPLOYMENT, kind: 'StatefulSet' } });
  await eventually(admin, ENDPOINTS, { namespace: 'default', name: 'web-9' }, (it) => expect(it).not.toBeNull());
  await endpointIs((endpoint) => {
    expect(endpoint?.metadata.deletionTimestamp !== undefined).toBe(isOwned);
    expect(endpoint?.['status']).toMatchObject(shown);
  });
  await ledger.release(other);
  await ledger.release(record);
  await endpointIs((endpoint) => expect(endpoint).toBeNull());
});

test('an endpoint costs one create and one delete', async () => {
  // Long enough for both records to be there on a slow machine.
  await using _ = await lead({}, silent, 3_000);
  const count = (verb: string) => cluster.server.requestCount({ resource: 'spiderendpoints', verb });
  const counts = () => Promise.all(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'].map(count));
  const before = await counts();
  const { metadata } = await makePod();
  const records = [await take('10.0.0.1', { uid: metadata.uid }), await take('fd00::1', { uid: metadata.uid })];
  const both = { current: { ips: [{ ipv4: '10.0.0.1/24', ipv6: 'fd00::1/64' }] } };
  await endpointIs((endpoint) => expect(endpoint?.['status']).toMatchObject(both));
  for (const record of records) await ledger.release(record);
  await vi.waitFor(
    async () => expect((await counts()).slice(0, 4).map((it, at) => it - (before[at] ?? 0))).toEqual([1, 0, 0, 1]),
    30_000,
  );
});

test('an endpoint of Spiderpool without records is cleaned only where that is asked for', async () => {
  await sure(admin.create(ENDPOINTS, { metadata: { ...AT, finalizers: [FINALIZER] }, status: NO_STATUS }));
  {
    await using _ = await lead();
    await take('10.0.0.9', { name: 'web-9', owner: { ...DEPLOYMENT, kind: 'StatefulSet' } });
    // By the time the other one is there, this one has been looked at.
    await eventually(admin, ENDPOINTS, { namespace: 'default', name: 'web-9' }, (other) =>
      expect(other).not.toBeNull(),
    );
    await endpointIs((endpoint) => expect(endpoint).not.toBeNull());
  }
  await using _ = await lead({ enableCleanOutdatedEndpoint: true });
  await endpointIs((endpoint) => expect(endpoint).toBeNull());
});

test('in a namespace that is Terminating or gone no endpoint is created, and nothing is logged', async () => {
  const namespace = 'short-lived';
  const owner = { ...DEPLOYMENT, kind: 'StatefulSet' };
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  await kubectl(cluster.server, ['create', 'namespace', namespace]);
  await kubectl(cluster.server, ['delete', 'namespace', namespace, '--wait=false']);
  await using _ = await lead({}, log);
  /** By the time the endpoint of the other record is there, the one before it has been tried. */
  const isTried = async (address: string, name: string) => {
    await take(address, { namespace, name: 'web-0', owner });
    await take(`1${address}`, { name, owner });
    await eventually(admin, ENDPOINTS, { namespace: 'default', name }, (it) => expect(it).not.toBeNull());
  };
  await isTried('10.0.0.1', 'web-8');
  const path = `/api/v1/namespaces/${namespace}/finalize`;
  const body = { metadata: { name: namespace }, spec: { finalizers: [] } };
  await callApi(cluster.server, { method: 'PUT', path, body, token: cluster.server.adminToken });
  await isTried('10.0.0.2', 'web-9');
  await setTimeout(1_500);
  expect(lines).toEqual([]);
});
