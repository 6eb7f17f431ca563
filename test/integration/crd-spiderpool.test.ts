import { describe, expect, test } from 'vitest';
import { kubectl } from '#test/support/manifests.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { refusal } from './crd-refusal.ts';
import { SpiderApi, type SpiderKind } from './crd-spider-api.ts';

const server = useSharedServer();
const api = new SpiderApi(server);

const expectAccepted = async (kind: SpiderKind, fields: object) =>
  expect(await api.tryCreate(kind, fields)).toMatchObject({ status: 201, body: fields });
const expectRefused = async (kind: SpiderKind, fields: object, message: string) =>
  expect(await api.tryCreate(kind, fields)).toMatchObject(refusal(message));

const NETWORK = { subnet: '10.6.0.0/16', ips: ['10.6.1.10-10.6.1.20'] };

describe('a SpiderIPPool', () => {
  const pool = (spec: object) => ({ spec: { ...NETWORK, ...spec } });
  const matchLabels = { app: 'web' };
  const matching = (operator: string, ...values: string[]) => ({
    matchExpressions: [{ key: 'zone', operator, values }],
  });

  test('is neither default nor disabled by default', async () => {
    const { body } = await api.tryCreate('SpiderIPPool', pool({}));
    expect(body).toMatchObject({ spec: { default: false, disable: false } });
  });

  test.each([
    { name: 'the switches', spec: { default: true, disable: true } },
    { name: 'pods by label', spec: { podAffinity: { matchLabels } } },
    { name: 'pods by expression', spec: { podAffinity: matching('Exists') } },
    {
      name: 'an application',
      spec: { podAffinity: { matchLabels: { 'ipam.spidernet.io/app-name': 'a'.repeat(253) } } },
    },
    { name: 'every namespace', spec: { namespaceAffinity: {} } },
    { name: 'namespaces', spec: { namespaceAffinity: { matchLabels }, namespaceName: ['prod'] } },
    { name: 'nodes', spec: { nodeAffinity: matching('In', 'a', 'b'), nodeName: ['n1'] } },
    { name: 'networks', spec: { multusName: ['kube-system/macvlan', 'ipvlan'] } },
    { name: '1,000 names', spec: { nodeName: Array(1_000).fill('n'), namespaceName: Array(1_000).fill('n') } },
  ])('is accepted with $name', ({ spec }) => expectAccepted('SpiderIPPool', pool(spec)));

  test.each([
    {
      name: 'an empty podAffinity',
      spec: { podAffinity: {} },
      message: 'spec.podAffinity: … must not be empty',
    },
    {
      name: 'a podAffinity of empty lists',
      spec: { podAffinity: { matchLabels: {}, matchExpressions: [] } },
      message: 'must not be empty',
    },
    {
      name: 'an operator there is not',
      spec: { nodeAffinity: matching('Is') },
      message: 'operator: Unsupported value',
    },
    { name: 'In without values', spec: { nodeAffinity: matching('In') }, message: 'In and NotIn need values' },
    { name: 'NotIn without values', spec: { podAffinity: matching('NotIn') }, message: 'In and NotIn need values' },
    {
      name: 'Exists with values',
      spec: { namespaceAffinity: matching('Exists', 'a') },
      message: 'DoesNotExist take none',
    },
    { name: 'an empty node name', spec: { nodeName: [''] }, message: 'spec.nodeName[0]: Invalid value' },
    { name: 'a node name as text', spec: { nodeName: 'n1' }, message: 'spec.nodeName: Invalid value' },
    { name: 'a switch as text', spec: { disable: 'yes' }, message: 'spec.disable: Invalid value' },
  ])('is refused with $name', ({ spec, message }) => expectRefused('SpiderIPPool', pool(spec), message));

  test('is refused to kubectl with a mistyped field', async () => {
    const message = expect.stringContaining('unknown field "spec.ipss"');
    expect(await api.tryCreate('SpiderIPPool', pool({ ipss: [] }))).toMatchObject({ status: 400, body: { message } });
  });
});

test('a SpiderSubnet may still say the old vlan', async () => {
  await expectAccepted('SpiderSubnet', { spec: { ...NETWORK, vlan: 4_094 } });
  await expectRefused('SpiderSubnet', { spec: { ...NETWORK, vlan: 4_095 } }, 'spec.vlan');
});

describe('a SpiderReservedIP', () => {
  test.each([
    { name: 'addresses', spec: { ips: ['10.6.0.1', '10.7.0.1-10.8.0.1'] } },
    { name: 'addresses and their version', spec: { ips: ['fd00::1'], ipVersion: 6 } },
    { name: 'a version and nothing yet', spec: { ips: [], ipVersion: 4 } },
    {
      name: '1,000 ranges',
      spec: {
        ips: Array(1_000).fill('2001:1db8:1000:1000:1000:1000:1000:1000-2001:1db8:1000:1000:1000:1000:1000:1fff'),
      },
    },
  ])('is accepted with $name', ({ spec }) => expectAccepted('SpiderReservedIP', { spec }));

  test.each([
    { name: 'nothing at all', spec: {}, message: 'must not be empty while ipVersion is not set' },
    { name: 'an empty list', spec: { ips: [] }, message: 'must not be empty while ipVersion is not set' },
    { name: 'no address', spec: { ips: ['printer'] }, message: 'spec.ips[0]: … is not an IP address' },
    { name: 'addresses of another version', spec: { ips: ['10.6.0.1'], ipVersion: 6 }, message: 'of the other family' },
    { name: 'two families', spec: { ips: ['10.6.0.1', 'fd00::1'] }, message: 'has an address of the other family' },
    { name: 'two families in a range', spec: { ips: ['10.6.0.1-fd00::1'] }, message: 'mixes IPv4 and IPv6' },
  ])('is refused with $name', ({ spec, message }) => expectRefused('SpiderReservedIP', { spec }, message));

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
    expect(await api.replace('SpiderReservedIP', { spec: before }, { spec: after })).toMatchObject({ status });
  });
});

describe('a SpiderEndpoint', () => {
  const ipv4 = {
    interface: 'eth0',
    ipv4: '10.6.1.10/16',
    ipv4Pool: 'pool-a',
    ipv4Gateway: '10.6.0.1',
    cleanGateway: false,
  };
  const ipv6 = {
    interface: 'eth0',
    ipv6: 'fd00::1/64',
    ipv6Pool: 'p',
    ipv6Gateway: 'fd00::2',
    mac: 'aa:bb:cc:dd:ee:ff',
    vlan: 7,
  };
  const owner = { ownerControllerType: 'Deployment', ownerControllerName: 'web' };
  const current = { uid: '4f0c', node: 'worker-1', ips: [ipv4] };
  const withIps = (...ips: object[]) => ({ ...owner, current: { ...current, ips } });

  test('is written whole: its status is a plain field', async () => {
    const { body } = await api.tryCreate('SpiderEndpoint', { status: withIps(ipv4) });
    expect(body).toMatchObject({ status: withIps({ ...ipv4, vlan: 0 }) });
  });

  test.each([
    { name: 'no status yet', fields: {} },
    { name: 'no address', fields: { status: withIps() } },
    { name: 'a NIC without name', fields: { status: withIps({ interface: '' }) } },
    { name: 'routes', fields: { status: withIps({ ...ipv4, routes: [{ dst: '10.7.0.0/16', gw: '10.6.0.2' }] }) } },
    { name: 'IPv6, a MAC and a VLAN', fields: { status: withIps(ipv6) } },
  ])('is accepted with $name', ({ fields }) => expectAccepted('SpiderEndpoint', fields));

  test.each([
    { name: 'no name of the owner', status: { current }, message: 'status.ownerControllerName: Required value' },
    { name: 'no type of the owner', status: { current }, message: 'status.ownerControllerType: Required value' },
    { name: 'nothing current', status: owner, message: 'status.current: Required value' },
    { name: 'no uid', status: { ...owner, current: {} }, message: 'status.current.uid: Required value' },
    { name: 'no node', status: { ...owner, current: {} }, message: 'status.current.node: Required value' },
    { name: 'no list', status: { ...owner, current: {} }, message: 'status.current.ips: Required value' },
    { name: 'no interface', status: withIps({}), message: 'status.current.ips[0].interface: Required value' },
    { name: 'an empty route', status: withIps({ ...ipv4, routes: [{}] }), message: 'routes[0].dst: Required value' },
    { name: 'a vlan too high', status: withIps({ ...ipv4, vlan: 4_095 }), message: 'status.current.ips[0].vlan' },
    {
      name: 'a route without next hop',
      status: withIps({ ...ipv4, routes: [{ dst: 'x' }] }),
      message: 'routes[0].gw: Required value',
    },
  ])('is refused with $name', ({ status, message }) => expectRefused('SpiderEndpoint', { status }, message));
});

describe('kubectl', () => {
  const COUNTS = 'VERSION SUBNET ALLOCATED-IP-COUNT TOTAL-IP-COUNT';
  const KINDS = [
    {
      short: 'sp',
      kind: 'SpiderIPPool',
      fields: { spec: NETWORK },
      columns: `${COUNTS} DEFAULT FREE READY`,
      wide: 'DISABLE NODENAME MULTUSNAME APP-NAMESPACE',
    },
    { short: 'ss', kind: 'SpiderSubnet', fields: { spec: NETWORK }, columns: `${COUNTS} FREE READY`, wide: '' },
    { short: 'sr', kind: 'SpiderReservedIP', fields: { spec: { ips: ['10.6.0.1'] } }, columns: 'VERSION', wide: '' },
    {
      short: 'se',
      kind: 'SpiderEndpoint',
      fields: {},
      columns: 'INTERFACE IPV4POOL IPV4 IPV6POOL IPV6 NODE',
      wide: '',
    },
  ] as const;
  const get = async (...args: string[]) => (await kubectl(server, ['get', ...args])).trim().split('\n');
  const words = (line = '') => line.trim().split(/\s+/).join(' ');

  test.each(KINDS)("shows the columns of '$short'", async ({ short, kind, fields, columns, wide }) => {
    await api.create(kind, 'shown', fields);
    expect(words((await get(short))[0])).toBe(`NAME ${columns}`);
    expect(words((await get(short, '--output=wide'))[0])).toBe(`NAME ${columns} ${wide}`.trim());
  });

  test('shows of which namespace the application of an auto pool is', async () => {
    const podAffinity = { matchLabels: { 'ipam.spidernet.io/app-namespace': 'prod' } };
    await api.create('SpiderIPPool', 'auto4-web', { spec: { ...NETWORK, podAffinity } });
    const [, row] = await get('sp', 'auto4-web', '--output=wide');
    expect(words(row)).toMatch(/ prod$/);
  });

  test('shows all of them by their category', async () => {
    const { body } = await api.send('GET', '/apis/spiderpool.spidernet.io/v2beta1');
    const { resources } = body as { resources: { kind: string; name: string; categories?: string[] }[] };
    const listed = resources.filter(({ categories }) => categories?.includes('spiderpool')).map(({ kind }) => kind);
    expect(listed.sort()).toEqual(KINDS.map(({ kind }) => kind).sort());
  });
});
