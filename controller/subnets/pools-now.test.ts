import { expect, test } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { buildSituation, keyOf, wants } from '#test/support/build-situation.ts';
import { newPoolObject } from './pool-object.ts';
import { PoolsNow } from './pools-now.ts';

const NOW = new Date('2026-11-18T12:00:00Z');

const pool = (version: number, ips: string[], name = 'p'): KubeObject => ({
  metadata: { name, uid: 'u', resourceVersion: String(version) },
  spec: { subnet: '10.0.0.0/24', ips },
});

/** A cache that the test feeds. */
function start(...objects: KubeObject[]) {
  const stored = new Map(objects.map((it) => [it.metadata.name, it]));
  const changes = new Listeners<{ name: string; uid: string }>();
  const pools = new PoolsNow(
    {
      get: ({ name }: { name: string }) => stored.get(name) ?? null,
      all: () => stored.values(),
      onChange: (listener: (at: never) => void) => changes.add((at) => listener(at as never)),
    } as unknown as ObjectView,
    () => NOW,
  );
  const see = (name: string, object: KubeObject | null) => {
    if (object === null) stored.delete(name);
    else stored.set(name, object);
    changes.tell({ name, uid: 'u' });
  };
  const ips = () => [...pools.all()].map(({ object }) => (object['spec'] as { ips: string[] }).ips.join());
  return { pools, see, ips };
}

test('what was written counts until the cache has it', () => {
  const { pools, see, ips } = start(pool(1, ['10.0.0.1']));
  pools.noteWritten(pool(5, ['10.0.0.1-10.0.0.2']));
  expect(ips()).toEqual(['10.0.0.1-10.0.0.2']);
  see('p', pool(3, ['10.0.0.7'])); // an older version comes late
  expect(ips()).toEqual(['10.0.0.1-10.0.0.2']);
  see('p', pool(5, ['10.0.0.1-10.0.0.2']));
  see('p', pool(6, ['10.0.0.9']));
  expect(ips()).toEqual(['10.0.0.9']);
});

test('a created pool is there before the cache has it, and gone when the cache saw it go', () => {
  const { pools, see } = start();
  pools.noteWritten(pool(2, ['10.0.0.1']));
  expect([pools.has('p'), pools.find('p')?.pool?.addresses.size]).toEqual([true, 1n]);
  see('p', pool(2, ['10.0.0.1']));
  see('p', null);
  expect([pools.has('p'), pools.find('p')]).toEqual([false, null]);
});

test('a pool that the cache saw come and go before its creator got the answer is not there', () => {
  const { pools, see } = start();
  see('p', pool(2, ['10.0.0.1']));
  see('p', null);
  pools.noteWritten(pool(2, ['10.0.0.1']));
  expect(pools.has('p')).toBe(false);
});

test('a write that the cache is ahead of is not kept', () => {
  const { pools, ips } = start(pool(9, ['10.0.0.9']));
  pools.noteWritten(pool(5, ['10.0.0.1']));
  expect(ips()).toEqual(['10.0.0.9']);
});

test('a pool that cannot be decoded still has the ranges that can be read of it', () => {
  const broken = { ...pool(1, ['10.0.0.1']), spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1'], gateway: 'x' } };
  const { pools } = start(broken);
  expect(pools.find('p')?.pool).toBeNull();
  expect(pools.find('p')?.ranges?.addresses.size).toBe(1n);
});

const { subnet } = buildSituation();
const SUBNET = { metadata: { name: 'office', uid: 's-1', resourceVersion: '1' }, spec: {} };

function poolFor(application: string, version: number): KubeObject {
  const made = newPoolObject('p', wants(keyOf(application), 0), IntervalSet.EMPTY, { subnet, object: SUBNET });
  return { ...made, metadata: { ...made.metadata, uid: 'u', resourceVersion: String(version) } } as KubeObject;
}

test('a pool is found by the application that it was made for: written, seen, changed and gone', () => {
  const [web, db] = [keyOf('web').application, keyOf('db').application];
  const { pools, see } = start();
  const counts = () => [pools.of(web).length, pools.of(db).length];
  pools.noteWritten(poolFor('web', 2));
  expect(counts()).toEqual([1, 0]);
  see('p', poolFor('web', 2));
  expect(counts()).toEqual([1, 0]);
  see('p', poolFor('db', 3));
  expect(counts()).toEqual([0, 1]);
  see('p', null);
  expect(counts()).toEqual([0, 0]);
  expect(start(poolFor('web', 2)).pools.of(web)).toHaveLength(1);
});

test('what a deleted pool had, and had dropped a moment before, is known for a minute', () => {
  const note = JSON.stringify({ at: NOW.toISOString(), ips: ['10.0.0.9'] });
  const made = pool(1, ['10.0.0.1']);
  const dropping = { ...made, metadata: { ...made.metadata, annotations: { 'ipledger.io/dropped-ranges': note } } };
  const { pools, see } = start(dropping);
  const goneAfter = (ms: number) =>
    pools.gone(new Date(NOW.getTime() + ms)).map(({ addresses, forMs }) => [addresses.size, forMs]);
  expect(goneAfter(0)).toEqual([]);
  pools.noteWritten(pool(2, ['10.0.0.1-10.0.0.4']));
  see('p', null);
  expect(goneAfter(0)).toEqual([[4n, 60_000]]);
  see('p', dropping);
  see('p', null);
  expect(goneAfter(1_000)).toEqual([
    [4n, 59_000],
    [2n, 59_000],
  ]);
  expect(goneAfter(60_000)).toEqual([]);
});

test('a pool that was deleted and made again between two events counts as deleted', () => {
  const { pools, see } = start(pool(1, ['10.0.0.1']));
  const made = pool(3, ['10.0.0.7']);
  see('p', { ...made, metadata: { ...made.metadata, uid: 'other' } });
  expect(pools.gone(NOW).map(({ addresses }) => addresses.lowest())).toEqual([0x0a000001n]);
});
