import { describe, expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { decodeRecordSpec } from '#pkg/record/decode-record.ts';
import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import { type ApiAnswer, callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { refusal } from './crd-refusal.ts';

const server = useSharedServer();

const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const UNTIL = '2026-11-16T10:00:00Z';

const HOLDER: Holder = {
  kind: 'Pod',
  namespace: 'prod',
  name: 'web-0',
  uid: '4f0c',
  interface: 'eth0',
  containerID: '9ab',
  attachGeneration: 1,
  node: 'worker-1',
};
const { uid: _uid, containerID: _containerID, ...RESTING } = HOLDER;
const SPEC: RecordSpec = {
  address: '10.0.2.50',
  prefix: 24,
  domain: 'default',
  pool: { kind: 'SpiderIPPool', name: 'pool-a', uid: 'u1' },
  state: 'Allocated',
  holder: HOLDER,
};
const NETWORK_POOL = { kind: 'NetworkNamespace', name: 'datacenter-01/prod-network', uid: 'u2' };
const V6 = { ...SPEC, address: 'fd00::c', prefix: 64 };
const V6_NAME = 'fd00-0000-0000-0000-0000-0000-0000-000c';

/** Texts and nulls in place of the right types, as an unknown client may send them. */
type Loose = { readonly [Field in keyof RecordSpec]?: unknown };
const nameOf = ({ address, domain }: Loose) => recordName(parseAddress(String(address)), String(domain));
const record = (spec: Loose, name = nameOf(spec)) => ({
  apiVersion: 'ipledger.io/v1alpha1',
  kind: 'IPRecord',
  metadata: { name },
  spec,
});
const spec = (change: Loose) => record({ ...SPEC, ...change }, '10.0.2.50');
const heldBy = (change: object) => spec({ holder: { ...HOLDER, ...change } });

const send = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callApi(server, { method, path, body, token: server.adminToken });
const tryCreate = (body: unknown) => send('POST', `${RECORDS}?dryRun=All`, body);

const full = record({
  ...V6,
  gateway: 'fd00::1',
  domain: 'blue',
  holder: {
    ...HOLDER,
    network: 'macvlan-conf',
    netns: '/var/run/netns/x',
    bootID: 'b1',
    owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
  },
  routes: [{ dst: 'fd01::/64', gw: 'fd00::2' }],
  cleanGateway: true,
});
const route = { dst: '10.7.0.0/16', gw: '10.0.2.1' };

test('the API server notes the author of the spec once, and not for each field', async () => {
  const { body } = await tryCreate(full);
  type Stored = { readonly metadata: { readonly managedFields: readonly { readonly fieldsV1: object }[] } };
  const { managedFields } = (body as Stored).metadata;
  expect(managedFields.map(({ fieldsV1 }) => fieldsV1)).toEqual([{ 'f:spec': {} }]);
});

describe('it is accepted, and can be read:', () => {
  test.each([
    { name: 'an IPv4 address', body: record(SPEC) },
    { name: 'an IPv4 address of another domain', body: record({ ...SPEC, domain: 'blue' }, '10.0.2.50.blue') },
    { name: 'a domain of digits', body: record({ ...SPEC, domain: '7' }, '10.0.2.50.7') },
    { name: 'an IPv6 address', body: record(V6, V6_NAME) },
    { name: 'an IPv6 address of another domain', body: record({ ...V6, domain: 'a-b' }, `${V6_NAME}.a-b`) },
    { name: 'the longest name', body: record({ ...V6, domain: 'd'.repeat(63) }) },
    { name: 'every field', body: full },
    { name: 'the pool of a NetworkNamespace', body: spec({ pool: NETWORK_POOL }) },
    {
      name: 'its longest name',
      body: spec({ pool: { ...NETWORK_POOL, name: `${'n'.repeat(63)}/${'a'.repeat(253)}` } }),
    },
    { name: 'Retained', body: spec({ state: 'Retained' }) },
    { name: 'Suspect', body: spec({ state: 'Suspect' }) },
    { name: 'Cooling', body: spec({ state: 'Cooling', until: UNTIL, holder: RESTING }) },
    {
      name: 'Quarantined with the foreign host',
      body: spec({
        state: 'Quarantined',
        until: UNTIL,
        holder: { ...RESTING, kind: 'Conflict', name: 'aa:bb:cc:00:11:22' },
      }),
    },
    {
      name: 'a claim, which has no node and no interface',
      body: heldBy({ kind: 'IPAddressClaim', node: '', interface: '' }),
    },
    { name: '1,000 routes', body: spec({ routes: Array(1_000).fill(route) }) },
    {
      name: 'a time with a fraction and a zone',
      body: spec({ state: 'Cooling', until: '2026-11-16T10:00:00.5+01:00', holder: RESTING }),
    },
  ])('$name', async ({ body }) => {
    expect(await tryCreate(body)).toMatchObject({ status: 201, body: { spec: body.spec } });
    expect(decodeRecordSpec(body.spec)).toEqual(body.spec);
  });

  test.each([
    '::',
    '::1',
    '0:0:1::1',
    '1:0:0:1::',
    '1::1:0:0:1',
    '2001:db8:0:1:1:1:1:1',
    'fd00::102:304',
    '::1:0:0:0:1',
  ])('%s, in the form our own code prints', async (address) => {
    expect(await tryCreate(record({ ...V6, address }))).toMatchObject({ status: 201 });
  });
});

const BAD_NAME = 'metadata.name must be the address';

describe('it is refused:', () => {
  test.each([
    { name: 'another name', body: record(SPEC, '10.0.2.51'), message: BAD_NAME },
    { name: 'a name with something in front', body: record(SPEC, 'x.10.0.2.50'), message: BAD_NAME },
    { name: 'a name with something behind', body: record(SPEC, '10.0.2.50.x'), message: BAD_NAME },
    { name: 'the default domain in the name', body: record(SPEC, '10.0.2.50.default'), message: BAD_NAME },
    {
      name: 'a domain that is not in the name',
      body: record({ ...SPEC, domain: 'blue' }, '10.0.2.50'),
      message: BAD_NAME,
    },
    {
      name: 'another domain in the name',
      body: record({ ...SPEC, domain: 'blue' }, '10.0.2.50.red'),
      message: BAD_NAME,
    },
    {
      name: 'the value of another address in the name',
      body: record(V6, V6_NAME.replace(/c$/, 'd')),
      message: BAD_NAME,
    },
    {
      name: 'an IPv6 domain that is not in the name',
      body: record({ ...V6, domain: 'blue' }, V6_NAME),
      message: BAD_NAME,
    },
    { name: 'an IPv6 name with something behind', body: record(V6, `${V6_NAME}.x`), message: BAD_NAME },
    { name: 'an IPv6 name with a ninth group', body: record(V6, `${V6_NAME}-0000`), message: BAD_NAME },
    {
      name: 'an IPv6 name for an IPv4 address',
      body: record(SPEC, '0000-0000-0000-0000-0000-0000-0a00-0232'),
      message: BAD_NAME,
    },
    {
      name: 'an IPv4 address in IPv6 form',
      body: record({ ...V6, address: '::ffff:1.2.3.4' }, '0000-0000-0000-0000-0000-ffff-0102-0304'),
      message: 'spec.address',
    },
    { name: 'no address', body: spec({ address: 'web-0' }), message: 'is not an IP address in canonical form' },
    {
      name: 'an address with a leading zero',
      body: record({ ...SPEC, address: '10.0.2.050' }, '10.0.2.050'),
      message: 'canonical',
    },
    { name: 'an address with a zone', body: record({ ...V6, address: 'fe80::1%eth0' }, V6_NAME), message: 'canonical' },
    {
      name: 'a domain that is no DNS label',
      body: record({ ...SPEC, domain: 'a.b' }, '10.0.2.50.a.b'),
      message: 'spec.domain',
    },
    { name: 'an empty domain', body: record({ ...SPEC, domain: '' }, '10.0.2.50'), message: 'spec.domain' },
    { name: 'a negative prefix', body: spec({ prefix: -1 }), message: 'spec.prefix' },
    {
      name: 'a prefix too long for IPv4',
      body: spec({ prefix: 33 }),
      message: 'is longer than an address of this family',
    },
    { name: 'a prefix too long for IPv6', body: record({ ...V6, prefix: 129 }), message: 'spec.prefix' },
    { name: 'a gateway of the other family', body: spec({ gateway: 'fd00::1' }), message: 'is not of the family' },
    { name: 'a gateway that is none', body: spec({ gateway: 'router' }), message: 'spec.gateway' },
    { name: 'another kind of pool', body: spec({ pool: { ...SPEC.pool, kind: 'Pool' } }), message: 'spec.pool.kind' },
    ...['prod-network', '/prod-network', 'a/', 'a/b/c', 'A/b'].map((name) => ({
      name: `${name} as the pool of a NetworkNamespace`,
      body: spec({ pool: { ...NETWORK_POOL, name } }),
      message: 'spec.pool.name',
    })),
    {
      name: 'a SpiderIPPool with a slash in its name',
      body: spec({ pool: { ...SPEC.pool, name: 'a/b' } }),
      message: 'spec.pool.name',
    },
    { name: 'a pool name that is none', body: spec({ pool: { ...SPEC.pool, name: 'A' } }), message: 'spec.pool.name' },
    { name: 'an unknown state', body: spec({ state: 'Free' }), message: 'spec.state' },
    { name: 'Cooling without until', body: spec({ state: 'Cooling', holder: RESTING }), message: 'spec.until: ' },
    {
      name: 'Quarantined without until',
      body: spec({ state: 'Quarantined', holder: RESTING }),
      message: 'spec.until: ',
    },
    { name: 'Allocated with until', body: spec({ until: UNTIL }), message: 'spec.until: ' },
    { name: 'Suspect with until', body: spec({ state: 'Suspect', until: UNTIL }), message: 'spec.until: ' },
    {
      name: 'Cooling with a uid',
      body: spec({ state: 'Cooling', until: UNTIL, holder: { ...RESTING, uid: 'u' } }),
      message: 'has no uid and no containerID',
    },
    {
      name: 'Quarantined with a containerID',
      body: spec({ state: 'Quarantined', until: UNTIL, holder: { ...RESTING, containerID: 'c' } }),
      message: 'has no uid and no containerID',
    },
    { name: 'a foreign host that holds', body: heldBy({ kind: 'Conflict' }), message: 'a foreign host holds nothing' },
    { name: 'a holder of unknown kind', body: heldBy({ kind: 'Cat' }), message: 'spec.holder.kind' },
    { name: 'a holder without name', body: heldBy({ name: '' }), message: 'spec.holder.name' },
    { name: 'a slash in the key', body: heldBy({ namespace: 'a/b' }), message: 'spec.holder.namespace' },
    { name: 'a slash in the interface', body: heldBy({ interface: '../x' }), message: 'spec.holder.interface' },
    {
      name: 'more attaches than a counter holds',
      body: heldBy({ attachGeneration: 2 ** 31 }),
      message: 'spec.holder.attachGeneration',
    },
    {
      name: 'neither attachGeneration nor attach',
      body: heldBy({ attachGeneration: undefined }),
      message: 'spec.holder.attachGeneration',
    },
    { name: 'attachGeneration 0', body: heldBy({ attachGeneration: 0 }), message: 'spec.holder.attachGeneration' },
    {
      name: 'a container ID without end',
      body: heldBy({ containerID: 'c'.repeat(254) }),
      message: 'spec.holder.containerID',
    },
    { name: '1,001 routes', body: spec({ routes: Array(1_001).fill(route) }), message: 'spec.routes' },
    {
      name: 'a route with host bits',
      body: spec({ routes: [{ ...route, dst: '10.7.0.1/16' }] }),
      message: 'spec.routes[0].dst',
    },
    {
      name: 'a route of the other family',
      body: spec({ routes: [{ ...route, dst: 'fd01::/64' }] }),
      message: 'family',
    },
    { name: 'a next hop that is none', body: spec({ routes: [{ ...route, gw: 'x' }] }), message: 'spec.routes[0].gw' },
    { name: 'no spec', body: { ...record(SPEC), spec: undefined }, message: 'spec: Required' },
  ])('$name', async ({ body, message }) => {
    expect(await tryCreate(body)).toMatchObject(refusal(message));
  });
});

const NO_TIMES = [
  'soon',
  '2026-11-16',
  '2026-11-16T10:00:00',
  '2026-11-16 10:00:00Z',
  '2026-11-16t10:00:00z',
  '2026-13-16T10:00:00Z',
  '2026-11-16T10:00:00.1234567890Z',
  '2026-11-16T10:00:00+24:00',
  '2026-11-16T10:00:00-99:99',
  '2026-11-16T10:00:00+00:60',
  '2026-11-16T24:00:00Z',
  '2026-11-16T10:60:00Z',
  '2026-11-16T10:00:60Z',
];

test.each(NO_TIMES)('until %s it is refused', async (until) => {
  const body = spec({ state: 'Cooling', until, holder: RESTING });
  expect(await tryCreate(body)).toMatchObject(refusal('spec.until'));
  expect(() => decodeRecordSpec(body.spec)).toThrow('spec.until');
});

const REQUIRED = {
  spec: ['address', 'prefix', 'domain', 'pool', 'state', 'holder'],
  'spec.pool': ['kind', 'name', 'uid'],
  'spec.holder': ['kind', 'namespace', 'name', 'interface', 'node'],
  'spec.holder.owner': ['apiVersion', 'kind', 'name'],
  'spec.routes[0]': ['dst', 'gw'],
};

test.each(Object.entries(REQUIRED).flatMap(([parent, names]) => names.map((name) => `${parent}.${name}`)))(
  'without %s it is refused',
  async (path) => {
    expect(await tryCreate(changed(path, undefined))).toMatchObject(refusal(`${path}: Required value`));
  },
);

const TEXTS = ['namespace', 'name', 'uid', 'interface', 'network', 'containerID', 'netns', 'bootID', 'node'];
const OWNER_TEXTS = ['owner.apiVersion', 'owner.kind', 'owner.name'];

test.each(['spec.pool.uid', ...[...TEXTS, ...OWNER_TEXTS].map((field) => `spec.holder.${field}`)])(
  'nothing in %s paints the terminal',
  async (path) => {
    for (const value of ['web\u001b[31m', '\u{1f4a3}']) {
      expect(await tryCreate(changed(path, value))).toMatchObject(refusal(`${path}: … should match`));
    }
  },
);

/** The full record with another value at a path such as `spec.routes[0].dst`. */
function changed(path: string, value: unknown): unknown {
  const body: unknown = structuredClone(full);
  const keys = path.match(/\w+/g) ?? [];
  const parent = keys.slice(0, -1).reduce((node, key) => (node as Record<string, unknown>)[key], body);
  Object.assign(parent as object, { [keys.at(-1) ?? '']: value });
  return body;
}

test('three spellings of one IPv6 address, and three of its name, make one record', async () => {
  const addresses = ['fd00::c', 'FD00::C', 'fd00:0:0:0:0:0:0:c'];
  const names = [V6_NAME, 'fd00-0-0-0-0-0-0-c', 'fd00--c'];
  const attempts = addresses.flatMap((address) => names.map((name) => record({ ...V6, address }, name)));
  const answers = await Promise.all(attempts.map((body) => send('POST', RECORDS, body)));
  expect(answers.map(({ status }) => status)).toEqual([201, ...Array(8).fill(422)]);
  expect(await send('POST', RECORDS, record(V6, V6_NAME))).toMatchObject({
    status: 409,
    body: { reason: 'AlreadyExists' },
  });
  expect(await send('GET', RECORDS)).toMatchObject({ body: { items: [{ metadata: { name: V6_NAME } }] } });
  await send('DELETE', `${RECORDS}/${V6_NAME}`);
});

describe('an update', () => {
  const seen = async () => {
    const { body } = await send('POST', RECORDS, record({ ...SPEC, address: '10.0.2.60' }));
    return body as { metadata: { name: string; generation: number; resourceVersion: string }; spec: RecordSpec };
  };

  const update = async (change: Loose) => {
    const before = await seen();
    const path = `${RECORDS}/${before.metadata.name}`;
    const answer = await send('PUT', path, { ...before, spec: { ...before.spec, ...change } });
    await send('DELETE', path);
    return answer;
  };

  test('changes the state', async () => {
    expect(await update({ state: 'Retained' })).toMatchObject({ status: 200, body: { spec: { state: 'Retained' } } });
  });

  test.each([
    { name: 'the address', change: { address: '10.0.2.61' }, message: 'spec.address: … never changes' },
    { name: 'the domain', change: { domain: 'blue' }, message: 'spec.domain: … never changes' },
    { name: 'the domain by leaving it out', change: { domain: null }, message: 'spec.domain: Required value' },
  ])('does not change $name', async ({ change, message }) => {
    expect(await update(change)).toMatchObject(refusal(message));
  });

  test('has no second way through a status', async () => {
    const before = await seen();
    const path = `${RECORDS}/${before.metadata.name}`;
    expect(await send('PUT', `${path}/status`, before)).toMatchObject({ status: 404 });
    await send('DELETE', path);
  });
});

test('kubectl shows the holder of each address', async () => {
  await send('POST', RECORDS, record(SPEC));
  const [head = '', row = ''] = (await kubectl(server, ['get', 'ipr'])).split('\n');
  expect(head.split(/\s+/)).toEqual([
    'NAME',
    'ADDRESS',
    'POOL',
    'STATE',
    'NAMESPACE',
    'HOLDER',
    'INTERFACE',
    'NODE',
    'AGE',
  ]);
  const shown = ['10.0.2.50', '10.0.2.50', 'pool-a', 'Allocated', 'prod', 'web-0', 'eth0', 'worker-1'];
  expect(row.split(/\s+/).slice(0, -1)).toEqual(shown);
});

test.each([
  { selector: 'spec.holder.namespace=prod,spec.holder.name=web-0', names: ['10.0.2.50'] },
  { selector: 'spec.pool.name=pool-a,spec.state=Allocated,spec.holder.node=worker-1', names: ['10.0.2.50'] },
  { selector: 'spec.state!=Allocated', names: [] },
  { selector: 'spec.holder.node=worker-2', names: [] },
])('records are chosen by their fields: $selector', async ({ selector, names }) => {
  await send('POST', RECORDS, record(SPEC));
  const { status, body } = await send('GET', `${RECORDS}?fieldSelector=${encodeURIComponent(selector)}`);
  const { items } = body as { items: { metadata: { name: string } }[] };
  expect([status, items.map(({ metadata }) => metadata.name)]).toEqual([200, names]);
});
