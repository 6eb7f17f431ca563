import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';

const ACCOUNTS = ['agent', 'controller', 'ctl'] as const;
type Account = (typeof ACCOUNTS)[number];

const server = useSharedServer();
const tokens = {} as Record<Account, string>;

beforeAll(async () => {
  for (const account of ACCOUNTS) tokens[account] = await plainToken(server, `ipledger-${account}`);
});

const send = (token: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callApi(server, { method, path, body, token });

/** Verbs by `group/resource`, with the names they are for in brackets, as the API server itself lists them. */
type Rights = Record<string, string>;

const READ = 'get list watch';
const WRITE = 'create delete get list update watch';
const EVENTS: Rights = { 'events.k8s.io/events': 'create' };
const EVIDENCE: Rights = { '/namespaces': READ, '/nodes': READ, '/pods': READ };

const POLICY: Rights = {
  'admissionregistration.k8s.io/validatingadmissionpolicies[ipledger-agent-records]': 'get',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings[ipledger-agent-records]': 'get',
};

const EVERYWHERE: Record<Account, Rights> = {
  agent: {
    'ipledger.io/iprecords': WRITE,
    'spiderpool.spidernet.io/spiderippools': READ,
    'spiderpool.spidernet.io/spiderreservedips': READ,
    'spiderpool.spidernet.io/spidersubnets': 'get',
    'apps/daemonsets': 'get',
    'apps/deployments': 'get',
    'apps/replicasets': 'get',
    'apps/statefulsets': 'get',
    'batch/cronjobs': 'get',
    'batch/jobs': 'get',
    'kubevirt.io/virtualmachineinstances': 'get',
    'kubevirt.io/virtualmachineinstancemigrations': 'get',
    ...EVIDENCE,
    ...POLICY,
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
    '/serviceaccounts[spiderpool-agent spiderpool-controller]': 'list',
    'apps/daemonsets': READ,
    'apps/deployments': READ,
    'apps/replicasets': READ,
    'apps/statefulsets': READ,
    'batch/cronjobs': READ,
    'batch/jobs': READ,
    'kubevirt.io/virtualmachineinstances': READ,
    'kubevirt.io/virtualmachines': READ,
    'admissionregistration.k8s.io/mutatingwebhookconfigurations[ipledger]': 'get update',
    'admissionregistration.k8s.io/validatingwebhookconfigurations[ipledger]': 'get update',
    ...POLICY,
    ...EVENTS,
  },
  ctl: {
    '/serviceaccounts': 'list',
    'authorization.k8s.io/subjectaccessreviews': 'create',
    'ipledger.io/iprecords': 'create delete get list watch',
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
      .flatMap(({ verbs, apiGroups, resources, resourceNames = [] }) => {
        const names = resourceNames.length === 0 ? '' : `[${resourceNames.join(' ')}]`;
        const right = verbs.toSorted().join(' ');
        return apiGroups.flatMap((group) => resources.map((resource) => [`${group}/${resource}${names}`, right]));
      })
      // Every user may ask these about itself.
      .filter(([on]) => !/^(authentication|authorization)\.k8s\.io\/self/.test(on ?? '')),
  );
}

const AT_HOME: Partial<Record<Account, Rights>> = {
  agent: { '/configmaps[ipledger-adopted]': READ },
  controller: {
    '/configmaps': 'create',
    '/configmaps[ipledger-adopted]': 'get',
    '/secrets': 'create',
    '/secrets[ipledger-webhook-ca]': 'get update',
    'coordination.k8s.io/leases': 'create get update',
  },
  ctl: { '/configmaps': 'create', '/configmaps[ipledger-adopted]': 'get' },
};

describe.each(ACCOUNTS)('the %s', (account) => {
  test.each([
    { namespace: 'default', more: {} },
    { namespace: 'ipledger', more: AT_HOME },
    { namespace: 'kube-node-lease', more: { controller: { 'coordination.k8s.io/leases': READ } } },
  ])('has no more and no fewer rights than it needs in $namespace', async ({ namespace, more }) => {
    const special: Partial<Record<Account, Rights>> = more;
    expect(await rightsIn(namespace, tokens[account])).toEqual({ ...EVERYWHERE[account], ...special[account] });
  });
});

const SPIDERPOOL = '/apis/spiderpool.spidernet.io/v2beta1';
const POOLS = `${SPIDERPOOL}/spiderippools`;
const ENDPOINTS = `${SPIDERPOOL}/namespaces/default/spiderendpoints`;
const HOME = '/api/v1/namespaces/ipledger';
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
  regarding: { kind: 'Pod', name: 'web-0', namespace: 'default' },
  eventTime: '2026-11-16T10:00:00.000000Z',
  reportingController: 'ipledger-agent',
  reportingInstance: 'agent-x',
  action: 'AddressConflict',
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
      name: 'reads no ConfigMap but the marker',
      method: 'GET',
      path: `${HOME}/configmaps/other`,
      message: 'cannot get resource "configmaps"',
    },
    {
      name: 'does not list ConfigMaps',
      method: 'GET',
      path: `${HOME}/configmaps`,
      message: 'cannot list resource "configmaps"',
    },
    {
      name: 'makes no marker',
      method: 'POST',
      path: `${HOME}/configmaps`,
      body: { metadata: { name: 'ipledger-adopted' } },
      message: 'cannot create resource "configmaps"',
    },
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
    {
      name: 'the marker of what was taken over',
      method: 'GET',
      path: `${HOME}/configmaps?fieldSelector=metadata.name%3Dipledger-adopted`,
    },
    { name: 'records of its node', method: 'GET', path: `${RECORDS}?labelSelector=ipledger.io%2Fnode%3Dworker-1` },
  ])('lists $name', async ({ method, path }) => {
    expect(await send(tokens.agent, method, path)).toMatchObject({ status: 200 });
  });

  test('tells what happened as an event', async () => {
    const answer = await send(tokens.agent, 'POST', '/apis/events.k8s.io/v1/namespaces/default/events', event);
    expect(answer).toMatchObject({ status: 201 });
  });
});

describe('the controller', () => {
  test.each([
    { name: 'makes pools', path: POOLS, body: pool },
    { name: 'makes endpoints', path: ENDPOINTS, body: endpoint },
    { name: 'makes the marker', path: `${HOME}/configmaps`, body: { metadata: { name: 'ipledger-adopted' } } },
    {
      name: 'keeps the CA of its webhooks',
      path: `${HOME}/secrets`,
      body: { metadata: { name: 'ipledger-webhook-ca' } },
    },
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

  test.each(['spiderpool-agent', 'spiderpool-controller'])('sees whether there is a %s anywhere', async (name) => {
    const path = `/api/v1/serviceaccounts?fieldSelector=metadata.name%3D${name}`;
    expect(await send(tokens.controller, 'GET', path)).toMatchObject({ status: 200 });
  });

  const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

  test.each([
    { name: 'deletes no pod', method: 'DELETE', path: `${PODS}/web-0` },
    { name: "reads no other program's secret", method: 'GET', path: `${HOME}/secrets/other` },
    {
      name: 'reads no secret elsewhere',
      method: 'GET',
      path: '/api/v1/namespaces/default/secrets/ipledger-webhook-ca',
    },
    { name: 'lists no secrets', method: 'GET', path: `${HOME}/secrets` },
    { name: 'lists no service accounts but two', method: 'GET', path: '/api/v1/serviceaccounts' },
    { name: 'deletes no marker', method: 'DELETE', path: `${HOME}/configmaps/ipledger-adopted` },
    { name: 'changes no other webhooks', method: 'PUT', path: `${WEBHOOKS}/other` },
    { name: 'makes no webhooks', method: 'POST', path: WEBHOOKS },
    { name: 'deletes no webhooks', method: 'DELETE', path: `${WEBHOOKS}/ipledger` },
  ])('$name', async ({ method, path }) => {
    const body = method === 'GET' ? undefined : {};
    expect(await send(tokens.controller, method, path, body)).toMatchObject({ status: 403 });
  });

  test.each([
    { name: 'marker', path: `${HOME}/configmaps/ipledger-adopted` },
    { name: 'CA', path: `${HOME}/secrets/ipledger-webhook-ca` },
    { name: 'webhooks', path: `${WEBHOOKS}/ipledger` },
  ])('may look for its own $name', async ({ path }) => {
    expect(await send(tokens.controller, 'GET', path)).toMatchObject({ status: 404 });
  });
});
