import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { applyManifests } from './crd-manifests.ts';
import { plainToken } from './roles-tokens.ts';

const ACCOUNTS = ['agent', 'controller', 'ctl'] as const;
type Account = (typeof ACCOUNTS)[number];

let server: ApiServer;
const tokens = {} as Record<Account, string>;

beforeAll(async () => {
  server = await startApiServer();
  await applyManifests(server, 'crds', 'admission-policy.yaml', 'rbac.yaml');
  for (const account of ACCOUNTS) tokens[account] = await plainToken(server, `ipledger-${account}`);
  return () => server[Symbol.asyncDispose]();
});

const send = (token: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callApi(server, { method, path, body, token });

/** Verbs by `group/resource`, followed by the names they are bound to, as the API server itself lists them. */
type Rights = Record<string, string>;

const READ = 'get list watch';
const WRITE = 'create delete get list update watch';
const EVENTS: Rights = { '/events': 'create', 'events.k8s.io/events': 'create' };
const EVIDENCE: Rights = { '/namespaces': READ, '/nodes': READ, '/pods': READ };

const EVERYWHERE: Record<Account, Rights> = {
  agent: {
    'ipledger.io/iprecords': WRITE,
    'spiderpool.spidernet.io/spiderippools': READ,
    'spiderpool.spidernet.io/spiderreservedips': READ,
    ...EVIDENCE,
    ...EVENTS,
  },
  controller: {
    'ipledger.io/iprecords': WRITE,
    'spiderpool.spidernet.io/spiderippools': WRITE,
    'spiderpool.spidernet.io/spiderippools/status': 'update',
    'spiderpool.spidernet.io/spiderendpoints': WRITE,
    'spiderpool.spidernet.io/spidersubnets': 'get list update watch',
    'spiderpool.spidernet.io/spidersubnets/status': 'update',
    'spiderpool.spidernet.io/spidersubnets/finalizers': 'update',
    'spiderpool.spidernet.io/spiderreservedips': READ,
    ...EVIDENCE,
    'apps/daemonsets': READ,
    'apps/deployments': READ,
    'apps/replicasets': READ,
    'apps/statefulsets': READ,
    'batch/cronjobs': READ,
    'batch/jobs': READ,
    'kubevirt.io/virtualmachineinstances': READ,
    'kubevirt.io/virtualmachines': READ,
    'cluster.x-k8s.io/clusters': READ,
    'ipam.cluster.x-k8s.io/ipaddressclaims': 'get list update watch',
    'ipam.cluster.x-k8s.io/ipaddressclaims/finalizers': 'update',
    'ipam.cluster.x-k8s.io/ipaddressclaims/status': 'update',
    'ipam.cluster.x-k8s.io/ipaddresses': WRITE,
    'vitistack.io/ipallocations': WRITE,
    'vitistack.io/ipallocations/status': 'update',
    'vitistack.io/networkconfigurations': 'get list update watch',
    'vitistack.io/networkconfigurations/status': 'update',
    'vitistack.io/networknamespaces': 'get list update watch',
    'vitistack.io/networknamespaces/status': 'update',
    'admissionregistration.k8s.io/mutatingwebhookconfigurations ipledger': 'get update',
    'admissionregistration.k8s.io/validatingwebhookconfigurations ipledger': 'get update',
    ...EVENTS,
  },
  ctl: {
    'ipledger.io/iprecords': 'delete get list watch',
    'spiderpool.spidernet.io/spiderendpoints': READ,
    'spiderpool.spidernet.io/spiderippools': READ,
    'spiderpool.spidernet.io/spiderreservedips': READ,
    'spiderpool.spidernet.io/spidersubnets': READ,
    ...EVIDENCE,
  },
};

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

async function rightsIn(namespace: string, token: string): Promise<Rights> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  const { body } = await send(token, 'POST', path, { spec: { namespace } });
  const { resourceRules } = (body as { status: { resourceRules: ResourceRule[] } }).status;
  return Object.fromEntries(
    resourceRules
      .flatMap(({ verbs, apiGroups, resources, resourceNames = [] }) =>
        apiGroups.flatMap((group) =>
          resources.map((resource) => [
            [`${group}/${resource}`, ...resourceNames].join(' '),
            verbs.toSorted().join(' '),
          ]),
        ),
      )
      // What everybody may ask about himself.
      .filter(([on]) => !/^(authentication|authorization)\.k8s\.io\/self/.test(on ?? '')),
  );
}

describe.each(ACCOUNTS)('the %s', (account) => {
  test.each([
    { namespace: 'default', more: {} },
    {
      namespace: 'ipledger',
      more: {
        controller: {
          'coordination.k8s.io/leases': 'create get update',
          '/secrets': 'create',
          '/secrets ipledger-webhook-ca': 'get update',
        },
      },
    },
    { namespace: 'kube-node-lease', more: { controller: { 'coordination.k8s.io/leases': READ } } },
  ])('has no more and no fewer rights than it needs in $namespace', async ({ namespace, more }) => {
    const special: Partial<Record<Account, Rights>> = more;
    expect(await rightsIn(namespace, tokens[account])).toEqual({ ...EVERYWHERE[account], ...special[account] });
  });
});

const SPIDERPOOL = '/apis/spiderpool.spidernet.io/v2beta1';
const POOLS = `${SPIDERPOOL}/spiderippools`;
const ENDPOINTS = `${SPIDERPOOL}/namespaces/default/spiderendpoints`;
const PODS = '/api/v1/namespaces/default/pods';
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';

const pool = {
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: { name: 'p' },
  spec: { subnet: '10.6.0.0/16' },
};
const endpoint = { ...pool, kind: 'SpiderEndpoint', spec: undefined };
const pod = { metadata: { name: 'web-0' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const lease = { metadata: { name: 'ipledger-controller' }, spec: { holderIdentity: 'me' } };
const event = {
  metadata: { name: 'conflict.1', namespace: 'default' },
  involvedObject: { kind: 'Pod', name: 'web-0', namespace: 'default' },
  reason: 'AddressConflict',
  type: 'Warning',
};

describe('the agent', () => {
  test.each([
    {
      name: 'makes no pool',
      method: 'POST',
      path: POOLS,
      body: pool,
      message: 'cannot create resource "spiderippools"',
    },
    {
      name: 'changes no pool',
      method: 'PUT',
      path: `${POOLS}/p`,
      body: pool,
      message: 'cannot update resource "spiderippools"',
    },
    {
      name: "writes no pool's status",
      method: 'PUT',
      path: `${POOLS}/p/status`,
      body: pool,
      message: 'cannot update resource "spiderippools/status"',
    },
    {
      name: 'makes no endpoint',
      method: 'POST',
      path: ENDPOINTS,
      body: endpoint,
      message: 'cannot create resource "spiderendpoints"',
    },
    { name: 'makes no pod', method: 'POST', path: PODS, body: pod, message: 'cannot create resource "pods"' },
    { name: 'deletes no pod', method: 'DELETE', path: `${PODS}/web-0`, message: 'cannot delete resource "pods"' },
    {
      name: 'does not delete records by the dozen',
      method: 'DELETE',
      path: RECORDS,
      message: 'cannot deletecollection resource "iprecords"',
    },
    { name: 'reads no secrets', method: 'GET', path: '/api/v1/secrets', message: 'cannot list resource "secrets"' },
    {
      name: 'switches no policy off',
      method: 'DELETE',
      path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/ipledger-agent-records',
      message: 'cannot delete resource',
    },
    {
      name: 'makes itself no token',
      method: 'POST',
      path: '/api/v1/namespaces/ipledger/serviceaccounts/ipledger-agent/token',
      body: { spec: {} },
      message: 'cannot create resource "serviceaccounts/token"',
    },
  ])('$name', async ({ method, path, body, message }) => {
    const answer = await send(tokens.agent, method, `${path}?dryRun=All`, body);
    expect(answer).toMatchObject({ status: 403, body: { message: expect.stringContaining(message) } });
  });

  test.each([
    { name: 'pods of its node', method: 'GET', path: '/api/v1/pods?fieldSelector=spec.nodeName%3Dworker-1' },
    { name: 'its node', method: 'GET', path: '/api/v1/nodes?fieldSelector=metadata.name%3Dworker-1' },
    { name: 'namespaces', method: 'GET', path: '/api/v1/namespaces' },
    { name: 'pools', method: 'GET', path: POOLS },
    { name: 'reserved addresses', method: 'GET', path: `${SPIDERPOOL}/spiderreservedips` },
    { name: 'records of its node', method: 'GET', path: `${RECORDS}?labelSelector=ipledger.io%2Fnode%3Dworker-1` },
  ])('lists $name', async ({ method, path }) => {
    expect(await send(tokens.agent, method, path)).toMatchObject({ status: 200 });
  });

  test('tells what happened as an event', async () => {
    const answer = await send(tokens.agent, 'POST', '/api/v1/namespaces/default/events', event);
    expect(answer).toMatchObject({ status: 201 });
  });
});

describe('the controller', () => {
  test.each([
    { name: 'makes pools', path: POOLS, body: pool },
    { name: 'makes endpoints', path: ENDPOINTS, body: endpoint },
    { name: 'takes the lease', path: '/apis/coordination.k8s.io/v1/namespaces/ipledger/leases', body: lease },
  ])('$name', async ({ path, body }) => {
    expect(await send(tokens.controller, 'POST', `${path}?dryRun=All`, body)).toMatchObject({ status: 201 });
  });

  test('writes the status of a pool', async () => {
    const { body } = await send(server.adminToken, 'POST', POOLS, pool);
    const counted = { ...(body as object), status: { totalIPCount: 7 } };
    expect(await send(tokens.controller, 'PUT', `${POOLS}/p/status`, counted)).toMatchObject({ status: 200 });
    await send(server.adminToken, 'DELETE', `${POOLS}/p`);
  });

  test('deletes no pod', async () => {
    expect(await send(tokens.controller, 'DELETE', `${PODS}/web-0`)).toMatchObject({ status: 403 });
  });
});
