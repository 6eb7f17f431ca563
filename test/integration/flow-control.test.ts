import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { sumCounter } from '#test/support/api-metrics.ts';
import { callApi } from '#test/support/api-request.ts';
import { createServingCertificate } from '#test/support/certificates.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { plainToken, podToken } from '#test/support/service-account-tokens.ts';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

/** A small API server: 40 requests at once. */
const FLAGS = ['--max-requests-inflight=20', '--max-mutating-requests-inflight=20'];
const LEVELS = '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations';
const SCHEMAS = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const MAPS = '/api/v1/namespaces/tenant/configmaps';
const FLOODERS = 100;
const PATIENCE = { timeout: 60_000, interval: 100 };

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster({ flags: FLAGS });
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** The queues of the shared level, as small as the rest of this server: a few tenants of a large one fill 6,400 places the same way. */
async function shrinkSharedLevel(): Promise<void> {
  await cluster.patch(`${LEVELS}/workload-low`, {
    metadata: { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'false' } },
    spec: { limited: { limitResponse: { queuing: { queues: 4, handSize: 4, queueLengthLimit: 5 } } } },
  });
}

/** Every ConfigMap of the tenant is held by a webhook of the tenant, which does not answer. */
async function holdConfigMaps(stack: AsyncDisposableStack): Promise<void> {
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-flood-')), (path) => rm(path, { recursive: true }));
  const files = await createServingCertificate(dir);
  const tls = { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
  const webhook = createServer(tls, () => {}).listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  stack.defer(() => {
    webhook.closeAllConnections();
    webhook.close();
  });
  const { port } = webhook.address() as AddressInfo;
  const caBundle = readFileSync(files.caFile).toString('base64');
  await cluster.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'tenant' },
    webhooks: [
      {
        name: 'slow.tenant.test',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Ignore',
        timeoutSeconds: 30,
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'tenant' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
      },
    ],
  });
}

async function createTenant(): Promise<string> {
  await cluster.post('/api/v1/namespaces', { metadata: { name: 'tenant' } });
  await cluster.post('/api/v1/namespaces/ipledger/serviceaccounts', { metadata: { name: 'tenant' } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/tenant';
  await cluster.post(`${rbac}/roles`, {
    metadata: { name: 'tenant' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
  });
  await cluster.post(`${rbac}/rolebindings`, {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'tenant' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'ipledger', name: 'tenant' }],
  });
  return await plainToken(cluster.ledger.server, 'tenant');
}

/** Sends creates without a pause, each as soon as the one before was rejected. */
function flood(token: string, stack: AsyncDisposableStack) {
  const { server } = cluster.ledger;
  const agent = new Agent({ keepAlive: true });
  const seen = { rejected: 0 };
  let isOver = false;
  const run = async (flooder: number) => {
    for (let turn = 0; !isOver; turn += 1) {
      const body = { metadata: { name: `m-${flooder}-${turn}` } };
      const call = { method: 'POST', path: `${MAPS}?dryRun=All`, body, token, agent };
      const { status } = await callApi(server, call).catch(() => ({ status: 0 }));
      if (status === 429) seen.rejected += 1;
      await wait(50);
    }
  };
  const running = Promise.all(Array.from({ length: FLOODERS }, (_, flooder) => run(flooder)));
  stack.defer(async () => {
    isOver = true;
    agent.destroy();
    await running;
  });
  return seen;
}

const uidOf = async (path: string) => (await cluster.read<{ metadata: { uid: string } }>(path)).metadata.uid;

/** One create of a record as the agent of worker-1 sends it, stored nowhere: its status and the level and schema that it was put in. */
async function createAsAgent(token: string) {
  const spec = heldBy(specOf('10.0.0.99'), { node: 'worker-1' });
  const body = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', ...toNewObject(spec) };
  const call = { method: 'POST', path: `${RECORDS}?dryRun=All`, body, token };
  const { status, headers } = await callApi(cluster.ledger.server, call);
  return {
    status,
    level: headers['x-kubernetes-pf-prioritylevel-uid'],
    schema: headers['x-kubernetes-pf-flowschema-uid'],
  };
}

const rejectedIn = async (level: string) =>
  sumCounter(await cluster.ledger.server.metrics(), 'apiserver_flowcontrol_rejected_requests_total', {
    priority_level: level,
  });

test('a tenant that floods the API server keeps agents from writing records; with deploy/flow-control.yaml it does not', async () => {
  await using stack = new AsyncDisposableStack();
  const { server } = cluster.ledger;
  await shrinkSharedLevel();
  const tenant = await createTenant();
  const token = await podToken(server, 'ipledger-agent', 'worker-1');
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const pods = await Promise.all(Array.from({ length: 20 }, (_, at) => cluster.createPod({ name: `pod-${at}` })));
  await holdConfigMaps(stack);
  const flooding = flood(tenant, stack);

  const shared = await uidOf(`${LEVELS}/workload-low`);
  await vi.waitFor(async () => {
    expect(await createAsAgent(token)).toMatchObject({ status: 429, level: shared });
  }, PATIENCE);

  await applyManifests(server, 'flow-control.yaml');
  const own = { level: await uidOf(`${LEVELS}/ipledger`), schema: await uidOf(`${SCHEMAS}/ipledger-agent-calls`) };
  await vi.waitFor(async () => expect(await createAsAgent(token)).toEqual({ status: 201, ...own }), PATIENCE);
  const [rejectedBefore, ownBefore] = [flooding.rejected, await rejectedIn('ipledger')];
  const given = await Promise.all(pods.map((pod) => agent.addressesOf(pod)));
  expect(new Set(given.flat()).size).toBe(20);
  await vi.waitUntil(() => flooding.rejected > rejectedBefore, PATIENCE); // the tenant still floods
  expect(await rejectedIn('workload-low')).toBeGreaterThan(0);
  expect(await rejectedIn('ipledger')).toBe(ownBefore);
  expect(ownBefore).toBe(0);
});

test('each request of agents and controller is in the flow that is meant for it', async () => {
  const { server } = cluster.ledger;
  await applyManifests(server, 'flow-control.yaml');
  const agent = await podToken(server, 'ipledger-agent', 'worker-1');
  const controller = await plainToken(server, 'ipledger-controller');
  const schemaOf = async (token: string, method: string, path: string, body?: unknown) => {
    const { headers } = await callApi(server, { method, path, token, ...(body === undefined ? {} : { body }) });
    return headers['x-kubernetes-pf-flowschema-uid'];
  };
  const [calls, lists, ofController, everybody] = await Promise.all(
    ['ipledger-agent-calls', 'ipledger-agent-lists', 'ipledger-controller', 'service-accounts'].map((name) =>
      uidOf(`${SCHEMAS}/${name}`),
    ),
  );
  await vi.waitFor(async () => expect(await schemaOf(agent, 'GET', RECORDS)).toBe(lists), PATIENCE);
  const pod = '/api/v1/namespaces/default/pods';
  const lease = '/apis/coordination.k8s.io/v1/namespaces/ipledger/leases';
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  expect(await schemaOf(agent, 'POST', RECORDS, {})).toBe(calls);
  expect(await schemaOf(agent, 'DELETE', `${RECORDS}/10.0.0.98`)).toBe(calls);
  expect(await schemaOf(agent, 'GET', `${pod}/pod-0`)).toBe(calls);
  expect(await schemaOf(agent, 'GET', pod)).toBe(lists);
  expect(await schemaOf(agent, 'POST', events, {})).toBe(everybody);
  expect(await schemaOf(controller, 'POST', lease, {})).toBe(ofController);
  expect(await schemaOf(controller, 'GET', RECORDS)).toBe(ofController);
});
