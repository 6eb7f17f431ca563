import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ScriptedApi, until } from '#test/support/scripted-api.ts';
import { type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';
import { PoolCache } from './pool-cache.ts';

const API = 'spiderpool.spidernet.io/v2beta1';
const POOLS = 'spiderippools';
const RESERVED = 'spiderreservedips';

interface Metadata {
  readonly generation?: number;
  readonly uid?: string;
  readonly [field: string]: unknown;
}

const meta = (
  name: string,
  resourceVersion: number,
  { generation = 1, uid = `uid-${name}`, ...more }: Metadata = {},
) => ({
  metadata: { name, uid, resourceVersion: String(resourceVersion), generation, ...more },
});
const pool = (name: string, resourceVersion: number, spec: object = {}, metadata: Metadata = {}) => ({
  apiVersion: API,
  kind: 'SpiderIPPool',
  ...meta(name, resourceVersion, metadata),
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.20'], ...spec },
});
const reserved = (name: string, resourceVersion: number, ips: unknown, metadata: Metadata = {}) => ({
  apiVersion: API,
  kind: 'SpiderReservedIP',
  ...meta(name, resourceVersion, metadata),
  spec: { ips },
});

/** Reads are answered from `stored`, by name, unless the test holds them. */
async function start(stored: Record<string, object> = {}, reservedIps: object[] = []) {
  const api = await ScriptedApi.start();
  api.has(POOLS, 100, ...Object.values(stored));
  api.has(RESERVED, 100, ...reservedIps);
  const server: Record<string, object> = { ...stored };
  const answer = (request: ScriptedRequest, name: string) => {
    const object = server[name];
    if (object === undefined) request.answer(404, statusBody(404, 'NotFound', { name, kind: POOLS }));
    else request.answer(200, object);
  };
  api.onGet = (request, { name }) => answer(request, name);
  const cache = new PoolCache(api.client, pino({ level: 'silent' }));
  let changes = 0;
  cache.onChange(() => {
    changes += 1;
  });
  const stop = async () => {
    await cache[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  };
  const ready = async () => {
    await cache.synced;
    await until(() => api.isWatched(POOLS) && api.isWatched(RESERVED));
  };
  const names = () => [...cache.current().pools.keys()];
  /** An event that certainly comes after all told before it. */
  const settle = async () => {
    const marker = `m-${api.count('get', POOLS)}-${changes}`;
    server[marker] = pool(marker, 9_000);
    api.tell(POOLS, ['ADDED', meta(marker, 9_000)]);
    await until(() => cache.current().pools.has(marker));
  };
  return { api, cache, server, ready, names, settle, changes: () => changes, [Symbol.asyncDispose]: stop };
}

const MARK = { deletionTimestamp: '2026-11-16T10:00:00Z' };

test('nothing is told before all pools and reserved addresses were read', async () => {
  await using made = await start({ a: pool('a', 5) });
  const held: ScriptedRequest[] = [];
  const serve = made.api.onGet;
  made.api.onGet = (request) => void held.push(request);
  expect(() => made.cache.current()).toThrow('the pools have not been read yet');
  await until(() => held.length === 1);
  expect(() => made.cache.current()).toThrow('the pools have not been read yet');
  for (const request of held) serve(request, { plural: POOLS, name: 'a' });
  await made.ready();
  expect(made.names()).toEqual(['a']);
});

test('metadata is watched for pools, everything for reserved addresses', async () => {
  await using made = await start();
  await made.ready();
  expect(made.api.query('watch', POOLS)?.accept).toContain('as=PartialObjectMetadata');
  expect(made.api.query('watch', RESERVED)?.accept).toBe('application/json');
});

test('many pools at once are one list, and one change', async () => {
  const stored = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`p${n}`, pool(`p${n}`, n + 1)]));
  await using made = await start(stored, [reserved('r', 7, ['10.0.0.15'])]);
  await made.ready();
  expect(made.cache.current().pools.size).toBe(30);
  expect(made.api.count('get', POOLS)).toBe(0);
  expect(made.api.count('list', POOLS)).toBe(2);
  expect(made.changes()).toBe(1);
});

test('a status write is no read and no change', async () => {
  await using made = await start({ a: pool('a', 5) });
  await made.ready();
  const reads = made.api.count('get', POOLS);
  const before = made.cache.current().pools.get('a');
  for (let version = 101; version < 120; version += 1) {
    made.api.tell(POOLS, [
      'MODIFIED',
      meta('a', version, { annotations: { 'kubectl.kubernetes.io/x': `${version}` } }),
    ]);
  }
  await made.settle();
  expect(made.api.count('get', POOLS)).toBe(reads + 1);
  expect(made.changes()).toBe(2);
  expect(made.cache.current().pools.get('a')).toBe(before);
});

test.each<{ name: string; metadata: Metadata; spec?: object; shows: object }>([
  { name: 'the generation', metadata: { generation: 2 }, spec: { disable: true }, shows: { isDisabled: true } },
  { name: 'an annotation', metadata: { annotations: { 'ipledger.io/domain': 'blue' } }, shows: { domain: 'blue' } },
  {
    name: 'a label',
    metadata: { labels: { 'ipam.spidernet.io/owner-application-name': 'web' } },
    shows: { auto: { subnet: '', interface: '', applicationUid: '', reclaim: true } },
  },
  { name: 'a deletion mark', metadata: { ...MARK, generation: 2 }, shows: { isTerminating: true } },
])(
  'a pool is read again when $name changed, and the others stay the same objects',
  async ({ metadata, spec, shows }) => {
    await using made = await start({ a: pool('a', 5), b: pool('b', 6, { subnet: '10.0.1.0/24', ips: ['10.0.1.5'] }) });
    await made.ready();
    const [a, b] = ['a', 'b'].map((name) => made.cache.current().pools.get(name));
    const reads = made.api.count('get', POOLS);
    made.server['a'] = pool('a', 101, spec, metadata);
    made.api.tell(POOLS, ['MODIFIED', meta('a', 101, metadata)]);
    await until(() => made.changes() === 2);
    expect(made.cache.current().pools.get('a')).toMatchObject(shows);
    expect(made.cache.current().pools.get('a')).not.toBe(a);
    expect(made.cache.current().pools.get('b')).toBe(b);
    expect(made.api.count('get', POOLS)).toBe(reads + 1);
  },
);

test('a read that a later event has overtaken does not win', async () => {
  await using made = await start({ a: pool('a', 5) });
  await made.ready();
  const held: ScriptedRequest[] = [];
  made.api.onGet = (request) => void held.push(request);
  made.api.tell(POOLS, ['MODIFIED', meta('a', 101, { generation: 2 })]);
  await until(() => held.length === 1);
  made.api.tell(POOLS, ['MODIFIED', meta('a', 105, { generation: 3 })]);
  made.api.tell(RESERVED, ['ADDED', reserved('marker', 106, ['10.9.9.9'])]);
  await until(() => made.changes() === 2);
  held[0]?.answer(200, pool('a', 101, { gateway: '10.0.0.2' }, { generation: 2 }));
  await until(() => held.length === 2);
  expect(made.cache.current().pools.get('a')?.gateway).toBeNull();
  held[1]?.answer(200, pool('a', 105, { gateway: '10.0.0.3' }, { generation: 3 }));
  await until(() => made.cache.current().pools.get('a')?.gateway != null);
  expect(made.cache.current().pools.get('a')?.gateway?.value).toBe(0x0a000003n);
});

test('a read ahead of the watch is not repeated when the watch catches up', async () => {
  await using made = await start({ a: pool('a', 5) });
  await made.ready();
  made.server['a'] = pool('a', 120, { disable: true }, { generation: 4 });
  made.api.tell(POOLS, ['MODIFIED', meta('a', 101, { generation: 2 })]);
  await until(() => made.cache.current().pools.get('a')?.isDisabled === true);
  const reads = made.api.count('get', POOLS);
  const latest = made.cache.current().pools.get('a');
  made.api.tell(
    POOLS,
    ['MODIFIED', meta('a', 110, { generation: 3 })],
    ['MODIFIED', meta('a', 120, { generation: 4 })],
  );
  await made.settle();
  expect(made.api.count('get', POOLS)).toBe(reads + 1);
  expect(made.cache.current().pools.get('a')).toBe(latest);
});

test('a pool that is deleted while it is read stays away', async () => {
  await using made = await start();
  await made.ready();
  const held: ScriptedRequest[] = [];
  const serve = made.api.onGet;
  made.api.onGet = (request) => void held.push(request);
  made.api.tell(POOLS, ['ADDED', meta('a', 101)]);
  await until(() => held.length === 1);
  made.api.tell(POOLS, ['DELETED', meta('a', 102)]);
  made.api.tell(RESERVED, ['ADDED', reserved('marker', 106, ['10.9.9.9'])]);
  await until(() => made.changes() === 2);
  made.api.onGet = serve;
  held[0]?.answer(200, pool('a', 101));
  await made.settle();
  expect(made.names()).not.toContain('a');
});

test('a pool made anew under its name is another pool', async () => {
  await using made = await start({ a: pool('a', 5) });
  await made.ready();
  made.server['a'] = pool('a', 103, {}, { uid: 'second' });
  made.api.tell(POOLS, ['DELETED', meta('a', 102)], ['ADDED', meta('a', 103, { uid: 'second' })]);
  await until(() => made.cache.current().pools.get('a')?.uid === 'second');
});

test('a deleted pool is gone, a terminating one is shown as such', async () => {
  await using made = await start({ a: pool('a', 5), b: pool('b', 6, {}, MARK) });
  await made.ready();
  expect(made.cache.current().pools.get('b')).toMatchObject({ isTerminating: true });
  made.api.tell(POOLS, ['DELETED', meta('a', 102)]);
  await until(() => made.changes() === 2);
  expect(made.names()).toEqual(['b']);
});

test('a pool that cannot be understood is not used, not even as it was before, and the reason is told', async () => {
  await using made = await start({ a: pool('a', 5), b: pool('b', 6, { subnet: 'nonsense' }) });
  await made.ready();
  expect(made.names()).toEqual(['a']);
  expect(made.cache.current().problems).toEqual([
    expect.stringMatching(/^SpiderIPPool b: spec.subnet: .*; it is not used until it is corrected$/),
  ]);
  made.server['a'] = pool('a', 101, { ips: ['10.9.0.1'] }, { generation: 2 });
  made.api.tell(POOLS, ['MODIFIED', meta('a', 101, { generation: 2 })]);
  await until(() => made.changes() === 2);
  expect(made.names()).toEqual([]);
  made.server['a'] = pool('a', 102, {}, { generation: 3 });
  made.api.tell(POOLS, ['MODIFIED', meta('a', 102, { generation: 3 })]);
  await until(() => made.changes() === 3);
  expect(made.names()).toEqual(['a']);
  expect(made.cache.current().problems).toHaveLength(1);
});

test('of pools that overlap the later one is told apart', async () => {
  const at = (second: number) => ({ creationTimestamp: `2026-11-16T10:00:0${second}Z` });
  await using made = await start({ a: pool('a', 5, {}, at(2)), b: pool('b', 6, {}, at(1)) });
  await made.ready();
  expect(made.names()).toEqual(['a', 'b']);
  expect([...made.cache.current().overlaps.keys()]).toEqual(['a']);
  expect(made.cache.current().problems).toEqual([]);
});

test('a read that fails is repeated, and keeps no other pool waiting', async () => {
  await using made = await start({ a: pool('a', 5) });
  await made.ready();
  let failures = 0;
  const serve = made.api.onGet;
  made.server['a'] = pool('a', 101, { disable: true }, { generation: 2 });
  made.api.onGet = (request, asked) => {
    if (asked.name !== 'a' || failures >= 3) return serve(request, asked);
    failures += 1;
    request.answer(500, statusBody(500, 'InternalError'));
  };
  made.api.tell(POOLS, ['MODIFIED', meta('a', 101, { generation: 2 })]);
  await until(() => failures > 0);
  await made.settle();
  await until(() => made.cache.current().pools.get('a')?.isDisabled === true);
  expect(failures).toBe(3);
});

test('a pool that the agent may not read is told of and does not keep the rest from being used', async () => {
  await using made = await start({ a: pool('a', 5), b: pool('b', 6) });
  const serve = made.api.onGet;
  made.api.onGet = (request, asked) =>
    asked.name === 'b' ? request.answer(403, statusBody(403, 'Forbidden')) : serve(request, asked);
  await made.ready();
  expect(made.names()).toEqual(['a']);
  expect(made.cache.current().problems).toEqual([
    'SpiderIPPool b: cannot be read: because of Forbidden; it is not used',
  ]);
  await until(() => made.api.count('get', POOLS) >= 4);
  expect(made.changes()).toBe(1); // it is tried again, and nobody is woken for nothing
});

test('reserved addresses follow their objects, and are the same set while they say the same', async () => {
  await using made = await start({ a: pool('a', 5) }, [
    reserved('r', 7, ['10.0.0.15']),
    reserved('six', 8, ['fd00::1']),
  ]);
  await made.ready();
  const first = made.cache.current();
  expect(first.reservedIps.map(({ name }) => name)).toEqual(['r', 'six']);
  made.api.tell(RESERVED, ['MODIFIED', reserved('r', 101, ['10.0.0.15', '10.0.0.16'], { generation: 2 })]);
  await until(() => made.changes() === 2);
  const second = made.cache.current();
  expect(second.reserved[4].size).toBe(2n);
  expect(second.reserved[6]).toBe(first.reserved[6]);
  expect(second.pools.get('a')).toBe(first.pools.get('a'));
  made.api.tell(RESERVED, ['MODIFIED', reserved('r', 102, ['10.0.0.15'], { ...MARK, generation: 3 })]);
  await until(() => made.changes() === 3);
  expect(made.cache.current().reserved[4].isEmpty).toBe(true);
  made.api.tell(RESERVED, ['DELETED', reserved('six', 103, [])]);
  await until(() => made.changes() === 4);
  expect(made.cache.current().reserved[6].isEmpty).toBe(true);
});

test('a reservation that becomes unreadable keeps what it reserved, and says so', async () => {
  await using made = await start({}, [reserved('r', 7, ['10.0.0.15'])]);
  await made.ready();
  const before = made.cache.current().reserved[4];
  made.api.tell(RESERVED, ['MODIFIED', reserved('r', 101, ['nonsense'])], ['ADDED', reserved('s', 102, 7)]);
  await until(() => made.changes() === 2);
  expect(made.cache.current().reserved[4]).toBe(before);
  expect(made.cache.current().problems).toEqual([
    expect.stringMatching(/^SpiderReservedIP r: .*; what it reserved before stays reserved$/),
    expect.stringMatching(/^SpiderReservedIP s: .*; nothing of it is reserved$/),
  ]);
});

test('after a restore of the store a pool is what the restored store has, though its version is older', async () => {
  const restored = pool('a', 50, { ips: ['10.0.0.10'] }, { generation: 1 });
  await using made = await start({ a: pool('a', 95, { ips: ['10.0.0.10-10.0.0.20'] }, { generation: 2 }) });
  await made.ready();
  expect(made.cache.current().pools.get('a')?.addresses.size).toBe(11n);
  made.server['a'] = restored;
  made.api.has(POOLS, 60, restored);
  made.api.tell(POOLS, ['ERROR', statusBody(410, 'Expired')]);
  await until(() => made.cache.current().pools.get('a')?.addresses.size === 1n);
});
