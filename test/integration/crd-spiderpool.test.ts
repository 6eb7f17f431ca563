import { beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { applyManifests, kubectl } from './crd-manifests.ts';

let server: ApiServer;

beforeAll(async () => {
  server = await startApiServer();
  await applyManifests(server, 'crds');
  return () => server[Symbol.asyncDispose]();
});

const PATHS = {
  SpiderIPPool: 'spiderippools',
  SpiderSubnet: 'spidersubnets',
  SpiderReservedIP: 'spiderreservedips',
  SpiderEndpoint: 'namespaces/default/spiderendpoints',
} as const;
type Kind = keyof typeof PATHS;

const send = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callApi(server, { method, path, body, token: server.adminToken });
const pathOf = (kind: Kind, name = '') =>
  `/apis/spiderpool.spidernet.io/v2beta1/${PATHS[kind]}${name === '' ? '' : `/${name}`}`;
const object = (kind: Kind, fields: object, name = 'thing') => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind,
  metadata: { name },
  ...fields,
});
/** As kubectl asks: unknown fields are refused, not dropped. */
const tryCreate = (kind: Kind, fields: object) =>
  send('POST', `${pathOf(kind)}?dryRun=All&fieldValidation=Strict`, object(kind, fields));

const expectAccepted = async (kind: Kind, fields: object) =>
  expect(await tryCreate(kind, fields)).toMatchObject({ status: 201, body: fields });
const expectRefused = async (kind: Kind, fields: object, message: string) =>
  expect(await tryCreate(kind, fields)).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining(message) },
  });

const NETWORK = { subnet: '10.6.0.0/16', ips: ['10.6.1.10-10.6.1.20'] };
const route = { dst: '10.7.0.0/16', gw: '10.6.0.2' };
/** As many as allowed, and each as long as it can be. */
const manyRanges = Array.from({ length: 1_000 }, (_, n) => {
  const group = (0x1000 + n).toString(16);
  return `2001:1db8:1000:1000:1000:1000:${group}:1000-2001:1db8:1000:1000:1000:1000:${group}:1fff`;
});
const manyRoutes = Array.from({ length: 1_000 }, (_, n) => ({
  dst: `2001:1db9:1000:1000:1000:1000:${(0x1000 + n).toString(16)}:0/112`,
  gw: '2001:1db8:1000:1000:1000:1000:1000:1000',
}));

describe.each(['SpiderIPPool', 'SpiderSubnet'] as const)('the network of a %s', (kind) => {
  describe('is accepted:', () => {
    test.each([
      { name: 'a subnet alone', spec: { subnet: '10.6.0.0/16' } },
      { name: 'no address', spec: { ...NETWORK, ips: [] } },
      { name: 'an address and a range', spec: { ...NETWORK, ips: ['10.6.0.9', '10.6.1.0-10.6.1.255'] } },
      { name: 'the version', spec: { ...NETWORK, ipVersion: 4 } },
      { name: 'a gateway', spec: { ...NETWORK, gateway: '10.6.0.1' } },
      { name: 'a route', spec: { ...NETWORK, routes: [route] } },
      { name: 'a route with host bits', spec: { ...NETWORK, routes: [{ ...route, dst: '10.7.0.1/16' }] } },
      { name: 'no routes, said aloud', spec: { ...NETWORK, routes: [] } },
      { name: 'the longest IPv4 subnet', spec: { subnet: '10.6.0.1/32', ips: ['10.6.0.1'] } },
      {
        name: 'IPv6 in any spelling',
        spec: {
          ipVersion: 6,
          subnet: 'fd00::/64',
          ips: ['FD00::10-fd00:0:0:0::20', 'fd00::30'],
          excludeIPs: ['fd00::12'],
          gateway: 'FD00::1',
          routes: [{ dst: 'fd01::5/32', gw: 'FD00::2' }],
        },
      },
      { name: 'a neighbour of the mapped addresses', spec: { subnet: '::fffe:0:0/96' } },
      {
        name: '1,000 items in each list, each as long as it can be',
        spec: {
          subnet: '2001:1db8:1000:1000:1000:1000::/96',
          ips: manyRanges,
          excludeIPs: manyRanges,
          routes: manyRoutes,
        },
      },
      // An object cannot tell these; the decoder and the webhook can.
      { name: 'a reversed range', spec: { ...NETWORK, ips: ['10.6.0.9-10.6.0.1'] } },
      { name: 'ranges that overlap', spec: { ...NETWORK, ips: ['10.6.0.1-10.6.0.9', '10.6.0.5'] } },
      { name: 'a gateway to hand out', spec: { ...NETWORK, gateway: '10.6.1.10' } },
      { name: 'two routes to one network', spec: { ...NETWORK, routes: [route, route] } },
    ])('$name', ({ spec }) => expectAccepted(kind, { spec }));
  });

  describe('is refused:', () => {
    test.each([
      { name: 'no spec', spec: undefined, message: 'spec: Required' },
      { name: 'no subnet', spec: { ips: [] }, message: 'spec.subnet: Required' },
      { name: 'a subnet that is none', spec: { subnet: 'lan' }, message: 'spec.subnet' },
      { name: 'a subnet without prefix', spec: { subnet: '10.6.0.0' }, message: 'canonical CIDR form' },
      { name: 'host bits', spec: { subnet: '10.6.0.1/16' }, message: 'canonical CIDR form' },
      { name: 'an IPv6 subnet in a second spelling', spec: { subnet: 'FD00::/64' }, message: 'canonical CIDR form' },
      { name: 'a prefix too long', spec: { subnet: '10.6.0.0/33' }, message: 'canonical CIDR form' },
      { name: 'a subnet over mapped IPv4', spec: { subnet: '::/64' }, message: 'covers IPv4-mapped addresses' },
      { name: 'the smallest such subnet', spec: { subnet: '::fffe:0:0/95' }, message: 'covers IPv4-mapped' },
      { name: 'all of IPv6', spec: { subnet: '::/0' }, message: 'covers IPv4-mapped addresses' },
      { name: 'the mapped addresses themselves', spec: { subnet: '::ffff:0:0/96' }, message: 'spec.subnet' },
      { name: 'another version', spec: { ...NETWORK, ipVersion: 6 }, message: 'spec.ipVersion: ' },
      { name: 'a version there is not', spec: { ...NETWORK, ipVersion: 5 }, message: 'spec.ipVersion' },
      { name: 'a version as text', spec: { ...NETWORK, ipVersion: '4' }, message: 'spec.ipVersion' },
      { name: 'a CIDR in ips', spec: { ...NETWORK, ips: ['10.6.1.0/24'] }, message: 'spec.ips[0]: ' },
      { name: 'a blank in a range', spec: { ...NETWORK, ips: ['10.6.0.1 - 10.6.0.9'] }, message: 'spec.ips[0]' },
      { name: 'an open range', spec: { ...NETWORK, ips: ['10.6.0.1-'] }, message: 'spec.ips[0]' },
      { name: 'a short end', spec: { ...NETWORK, ips: ['10.6.0.1', '10.6.0.1-9'] }, message: 'spec.ips[1]' },
      { name: 'three ends', spec: { ...NETWORK, ips: ['10.6.0.1-10.6.0.2-10.6.0.3'] }, message: 'spec.ips[0]' },
      { name: 'an empty item', spec: { ...NETWORK, ips: [''] }, message: 'spec.ips[0]' },
      { name: 'two families in a range', spec: { ...NETWORK, ips: ['10.6.0.1-fd00::1'] }, message: 'mixes IPv4' },
      {
        name: 'ips of the other family',
        spec: { ...NETWORK, ips: ['10.6.0.1', 'fd00::1'] },
        message: 'spec.ips: Invalid value: fd00::1 is not in the subnet 10.6.0.0/16',
      },
      {
        name: 'ips that begin too low',
        spec: { ...NETWORK, ips: ['10.5.255.255-10.6.0.5'] },
        message: '10.5.255.255-10.6.0.5 is not in the subnet 10.6.0.0/16',
      },
      {
        name: 'ips that end too high',
        spec: { ...NETWORK, ips: ['10.6.0.5-10.7.0.0'] },
        message: 'is not in the subnet',
      },
      { name: 'an exclusion outside', spec: { ...NETWORK, excludeIPs: ['10.7.0.1'] }, message: 'spec.excludeIPs: ' },
      { name: 'a gateway outside', spec: { ...NETWORK, gateway: '10.7.0.1' }, message: 'spec.gateway: ' },
      { name: 'an empty gateway', spec: { ...NETWORK, gateway: '' }, message: 'spec.gateway: ' },
      { name: 'a gateway of the other family', spec: { ...NETWORK, gateway: 'fd00::1' }, message: 'spec.gateway: ' },
      {
        name: 'the default route',
        spec: { ...NETWORK, routes: [{ ...route, dst: '0.0.0.0/0' }] },
        message: 'set spec.gateway',
      },
      {
        name: 'the default route of IPv6',
        spec: { subnet: 'fd00::/64', routes: [{ dst: '::/0', gw: 'fd00::1' }] },
        message: 'set spec.gateway',
      },
      {
        name: 'a destination that is none',
        spec: { ...NETWORK, routes: [{ ...route, dst: '10.7.0.0' }] },
        message: 'spec.routes[0].dst',
      },
      {
        name: 'a destination of the other family',
        spec: { ...NETWORK, routes: [{ ...route, dst: 'fd01::/64' }] },
        message: 'not of the family',
      },
      {
        name: 'a next hop outside',
        spec: { ...NETWORK, routes: [{ ...route, gw: '10.8.0.1' }] },
        message: 'has a gw that is not in the subnet',
      },
      {
        name: 'a next hop that is none',
        spec: { ...NETWORK, routes: [{ ...route, gw: 'x' }] },
        message: 'spec.routes[0].gw',
      },
      {
        name: 'a route without next hop',
        spec: { ...NETWORK, routes: [{ dst: '10.7.0.0/16' }] },
        message: 'spec.routes[0].gw: Required',
      },
      { name: '1,001 ips', spec: { ...NETWORK, ips: Array(1_001).fill('10.6.0.1') }, message: 'spec.ips' },
    ])('$name', ({ spec, message }) => expectRefused(kind, { spec }, message));

    test('one fault makes one message', async () => {
      const { body } = await tryCreate(kind, { spec: { ...NETWORK, subnet: '10.6.0.0/99', gateway: '10.6.0.1' } });
      expect((body as { details: { causes: unknown[] } }).details.causes).toHaveLength(1);
    });
  });

  describe('later', () => {
    const change = async (spec: object) => {
      const path = pathOf(kind, 'later');
      try {
        const { body } = await send(
          'POST',
          pathOf(kind),
          object(kind, { spec: { ...NETWORK, ipVersion: 4 } }, 'later'),
        );
        const { metadata } = body as { metadata: object };
        return await send('PUT', path, { ...object(kind, { spec }), metadata });
      } finally {
        await send('DELETE', path);
      }
    };

    test.each([
      { name: 'it may get other addresses', spec: { ...NETWORK, ipVersion: 4, ips: ['10.6.9.9'] }, status: 200 },
      { name: 'it may be replaced by a file without the version', spec: NETWORK, status: 200 },
      { name: 'it keeps its subnet', spec: { subnet: '10.6.0.0/17', ipVersion: 4 }, status: 422 },
      { name: 'it keeps its version', spec: { ...NETWORK, ipVersion: 6 }, status: 422 },
      { name: 'it keeps both', spec: { subnet: 'fd00::/64', ipVersion: 6 }, status: 422 },
    ])('$name', async ({ spec, status }) => {
      expect(await change(spec)).toMatchObject({ status });
    });
  });

  test('has a status of its own, which leaves the spec alone', async () => {
    const status = { totalIPCount: 9_223_372_036_854_776_000, allocatedIPCount: 1 };
    const { body } = await send('POST', pathOf(kind), object(kind, { spec: NETWORK, status }, 'counted'));
    expect(body).not.toHaveProperty('status');
    const counts = { allocatedIPCount: 3, totalIPCount: 11 };
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Served',
      message: '',
      lastTransitionTime: '2026-11-16T10:00:00Z',
    };
    const next = {
      ...(body as object),
      spec: { subnet: '10.9.0.0/16' },
      status: { ...counts, conditions: [condition] },
    };
    const answer = await send('PUT', `${pathOf(kind, 'counted')}/status`, next);
    expect(answer).toMatchObject({
      status: 200,
      body: { spec: NETWORK, status: next.status, metadata: { generation: 1 } },
    });
    await send('DELETE', pathOf(kind, 'counted'));
  });
});

describe('a SpiderIPPool', () => {
  const pool = (spec: object) => ({ spec: { ...NETWORK, ...spec } });
  const matchLabels = { app: 'web' };

  test('is neither default nor disabled unless it says so', async () => {
    expect(await tryCreate('SpiderIPPool', pool({}))).toMatchObject({
      body: { spec: { default: false, disable: false } },
    });
  });

  describe('is accepted with', () => {
    test.each([
      { name: 'the switches', spec: { default: true, disable: true } },
      { name: 'pods by label', spec: { podAffinity: { matchLabels } } },
      { name: 'pods by expression', spec: { podAffinity: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } } },
      {
        name: 'an application with a long name',
        spec: { podAffinity: { matchLabels: { 'ipam.spidernet.io/app-name': 'a'.repeat(253) } } },
      },
      { name: 'every namespace', spec: { namespaceAffinity: {} } },
      { name: 'namespaces', spec: { namespaceAffinity: { matchLabels }, namespaceName: ['prod'] } },
      {
        name: 'nodes',
        spec: {
          nodeAffinity: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
          nodeName: ['n1'],
        },
      },
      { name: 'networks', spec: { multusName: ['kube-system/macvlan', 'ipvlan'] } },
      { name: '1,000 of each', spec: { nodeName: Array(1_000).fill('n'), namespaceName: Array(1_000).fill('n') } },
    ])('$name', ({ spec }) => expectAccepted('SpiderIPPool', pool(spec)));
  });

  describe('is refused with', () => {
    test.each([
      { name: 'an empty podAffinity', spec: { podAffinity: {} }, message: 'spec.podAffinity: ' },
      {
        name: 'a podAffinity of empty lists',
        spec: { podAffinity: { matchLabels: {}, matchExpressions: [] } },
        message: 'must not be empty',
      },
      {
        name: 'an operator there is not',
        spec: { nodeAffinity: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
        message: 'operator',
      },
      {
        name: 'In without values',
        spec: { nodeAffinity: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
        message: 'need values',
      },
      {
        name: 'Exists with values',
        spec: { namespaceAffinity: { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] } },
        message: 'take none',
      },
      { name: 'an empty node name', spec: { nodeName: [''] }, message: 'spec.nodeName[0]' },
      { name: 'a node name as text', spec: { nodeName: 'n1' }, message: 'spec.nodeName' },
      { name: 'a switch as text', spec: { disable: 'yes' }, message: 'spec.disable' },
    ])('$name', ({ spec, message }) => expectRefused('SpiderIPPool', pool(spec), message));
  });

  test('with a mistyped field is refused to kubectl', async () => {
    const answer = await tryCreate('SpiderIPPool', pool({ ipss: [] }));
    expect(answer).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('unknown field "spec.ipss"') },
    });
  });

  test('that was stored before these rules still loses its finalizer', async () => {
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/spiderippools.spiderpool.spidernet.io';
    const { body } = await send('GET', crd);
    const strict = body as {
      spec: { versions: { schema: { openAPIV3Schema: { properties: Record<string, object> } } }[] };
    };
    const lenient = structuredClone(strict);
    const [version] = lenient.spec.versions;
    if (version !== undefined) {
      const subnet = { type: 'string' };
      version.schema.openAPIV3Schema.properties['spec'] = { type: 'object', properties: { subnet, gateway: subnet } };
    }
    await send('PUT', crd, lenient);
    const old = object('SpiderIPPool', { spec: { subnet: '10.6.0.1/16', gateway: 'x' } }, 'old');
    const stored = { ...old, metadata: { name: 'old', finalizers: ['spiderpool.spidernet.io/test'] } };
    await expect
      .poll(async () => (await send('POST', pathOf('SpiderIPPool'), stored)).status, { timeout: 10_000 })
      .toBe(201);
    await applyManifests(server, 'crds');
    await expect
      .poll(async () => (await tryCreate('SpiderIPPool', { spec: old })).status, { timeout: 10_000 })
      .toBe(400);

    await send('DELETE', pathOf('SpiderIPPool', 'old'));
    const { body: terminating } = await send('GET', pathOf('SpiderIPPool', 'old'));
    const { metadata, ...rest } = terminating as { metadata: object };
    const freed = { ...rest, metadata: { ...metadata, finalizers: [] } };
    expect(await send('PUT', pathOf('SpiderIPPool', 'old'), freed)).toMatchObject({ status: 200 });
    expect(await send('GET', pathOf('SpiderIPPool', 'old'))).toMatchObject({ status: 404 });
  });
});

test('a SpiderSubnet may still say the old vlan', () =>
  expectAccepted('SpiderSubnet', { spec: { ...NETWORK, vlan: 4_094 } }));

describe('a SpiderReservedIP', () => {
  describe('is accepted with', () => {
    test.each([
      { name: 'addresses', spec: { ips: ['10.6.0.1', '10.7.0.1-10.8.0.1'] } },
      { name: 'addresses and their version', spec: { ips: ['fd00::1'], ipVersion: 6 } },
      { name: 'a version and nothing yet', spec: { ips: [], ipVersion: 4 } },
      { name: '1,000 ranges', spec: { ips: manyRanges } },
    ])('$name', ({ spec }) => expectAccepted('SpiderReservedIP', { spec }));
  });

  describe('is refused with', () => {
    test.each([
      { name: 'nothing at all', spec: {}, message: 'must not be empty while ipVersion is not set' },
      { name: 'an empty list', spec: { ips: [] }, message: 'must not be empty while ipVersion is not set' },
      { name: 'no address', spec: { ips: ['printer'] }, message: 'spec.ips[0]' },
      {
        name: 'addresses of another version',
        spec: { ips: ['10.6.0.1'], ipVersion: 6 },
        message: 'of the other family',
      },
      { name: 'two families', spec: { ips: ['10.6.0.1', 'fd00::1'] }, message: 'of the other family' },
      { name: 'two families in a range', spec: { ips: ['10.6.0.1-fd00::1'] }, message: 'mixes IPv4 and IPv6' },
    ])('$name', ({ spec, message }) => expectRefused('SpiderReservedIP', { spec }, message));
  });

  test.each([
    {
      name: 'may reserve others',
      before: { ips: ['10.6.0.1'] },
      after: { ips: ['10.6.0.9'], ipVersion: 4 },
      status: 200,
    },
    {
      name: 'may lose its written version',
      before: { ips: ['10.6.0.1'], ipVersion: 4 },
      after: { ips: ['10.6.0.1'] },
      status: 200,
    },
    { name: 'keeps its version', before: { ips: [], ipVersion: 4 }, after: { ips: [], ipVersion: 6 }, status: 422 },
    { name: 'keeps a version it never wrote', before: { ips: ['10.6.0.1'] }, after: { ips: ['fd00::1'] }, status: 422 },
  ])('$name', async ({ before, after, status }) => {
    const path = pathOf('SpiderReservedIP', 'later');
    const { body } = await send(
      'POST',
      pathOf('SpiderReservedIP'),
      object('SpiderReservedIP', { spec: before }, 'later'),
    );
    const answer = await send('PUT', path, { ...(body as object), spec: after });
    await send('DELETE', path);
    expect(answer.status).toBe(status);
  });
});

describe('a SpiderEndpoint', () => {
  const ip = {
    interface: 'eth0',
    ipv4: '10.6.1.10/16',
    ipv4Pool: 'pool-a',
    ipv4Gateway: '10.6.0.1',
    cleanGateway: false,
    routes: [route],
  };
  const current = { uid: '4f0c', node: 'worker-1', ips: [ip] };
  const status = { ownerControllerType: 'Deployment', ownerControllerName: 'web', current };

  test('is written whole: its status is a plain field', async () => {
    const stored = { ...status, current: { ...current, ips: [{ ...ip, vlan: 0 }] } };
    expect(await tryCreate('SpiderEndpoint', { status })).toMatchObject({ status: 201, body: { status: stored } });
  });

  describe('is accepted with', () => {
    test.each([
      { name: 'no address', status: { ...status, current: { ...current, ips: [] } } },
      { name: 'a NIC without name', status: { ...status, current: { ...current, ips: [{ interface: '' }] } } },
      {
        name: 'IPv6 and a MAC',
        status: {
          ...status,
          current: {
            ...current,
            ips: [
              {
                interface: 'eth0',
                ipv6: 'fd00::1/64',
                ipv6Pool: 'p',
                ipv6Gateway: 'fd00::2',
                mac: 'aa:bb:cc:dd:ee:ff',
                vlan: 7,
              },
            ],
          },
        },
      },
    ])('$name', (row) => expectAccepted('SpiderEndpoint', { status: row.status }));
  });

  describe('is refused with', () => {
    test.each([
      { name: 'no owner', status: { current }, message: 'status.ownerControllerName: Required' },
      { name: 'nothing current', status: { ...status, current: undefined }, message: 'status.current: Required' },
      {
        name: 'no uid',
        status: { ...status, current: { ...current, uid: undefined } },
        message: 'status.current.uid: Required',
      },
      {
        name: 'no interface',
        status: { ...status, current: { ...current, ips: [{}] } },
        message: 'ips[0].interface: Required',
      },
      {
        name: 'a vlan too high',
        status: { ...status, current: { ...current, ips: [{ ...ip, vlan: 4_095 }] } },
        message: 'vlan',
      },
    ])('$name', (row) => expectRefused('SpiderEndpoint', { status: row.status }, row.message));
  });
});

describe('kubectl', () => {
  test.each([
    {
      short: 'sp',
      columns: 'NAME VERSION SUBNET ALLOCATED-IP-COUNT TOTAL-IP-COUNT DEFAULT',
      wide: ' DISABLE NODENAME MULTUSNAME APP-NAMESPACE',
    },
    { short: 'ss', columns: 'NAME VERSION SUBNET ALLOCATED-IP-COUNT TOTAL-IP-COUNT', wide: '' },
    { short: 'sr', columns: 'NAME VERSION', wide: '' },
    { short: 'se', columns: 'NAME INTERFACE IPV4POOL IPV4 IPV6POOL IPV6 NODE', wide: '' },
  ])("shows the columns of '$short'", async ({ short, columns, wide }) => {
    const [kind = 'SpiderIPPool'] = (Object.keys(PATHS) as Kind[]).filter((name) => initials(name) === short);
    const fields =
      kind === 'SpiderEndpoint' ? {} : { spec: kind === 'SpiderReservedIP' ? { ips: ['10.6.0.1'] } : NETWORK };
    await send('POST', pathOf(kind), object(kind, fields, 'shown'));
    const head = async (...args: string[]) =>
      (await kubectl(server, ['get', short, ...args])).split('\n')[0]?.trim().replace(/\s+/g, ' ');
    expect(await head()).toBe(columns);
    expect(await head('--output=wide')).toBe(columns + wide);
    await send('DELETE', pathOf(kind, 'shown'));
  });

  test('knows the category of all of them', async () => {
    const { body } = await send('GET', '/apis/spiderpool.spidernet.io/v2beta1');
    const { resources } = body as { resources: { name: string; categories?: string[] }[] };
    const listed = resources.filter(({ categories }) => categories?.includes('spiderpool')).map(({ name }) => name);
    expect(listed.sort()).toEqual(['spiderendpoints', 'spiderippools', 'spiderreservedips', 'spidersubnets']);
  });
});

function initials(kind: Kind): string {
  return { SpiderIPPool: 'sp', SpiderSubnet: 'ss', SpiderReservedIP: 'sr', SpiderEndpoint: 'se' }[kind];
}
