import { expect, test } from 'vitest';
import { NodeTable } from './node-table.ts';

const READY = { isReady: true, isOutOfService: false };

const newTable = () => new NodeTable(25_000);

test('a node is Ready since it was first seen so, without a break', () => {
  const nodes = newTable();
  expect(nodes.sighting('a').readySinceMs).toBeNull();
  nodes.put('a', READY, 10);
  nodes.put('a', READY, 20);
  expect(nodes.sighting('a').readySinceMs).toBe(10);
  nodes.put('a', { ...READY, isReady: false }, 30);
  expect(nodes.sighting('a').readySinceMs).toBeNull();
  nodes.put('a', READY, 40);
  expect(nodes.sighting('a').readySinceMs).toBe(40);
  nodes.remove('a', 50);
  expect(nodes.sighting('a').readySinceMs).toBeNull();
  nodes.put('a', READY, 60);
  expect(nodes.sighting('a').readySinceMs).toBe(60);
});

test('a lease is kept from renewal to renewal, and begins anew once it was removed', () => {
  const nodes = newTable();
  nodes.seeLease('a', '2026-11-16T10:00:00.000000Z', 10);
  nodes.seeLease('a', '2026-11-16T10:00:10.000000Z', 10_010);
  expect(nodes.sighting('a').lease).toMatchObject({ renewedAtMs: 10_010, steadySinceMs: 10 });
  nodes.removeLease('a');
  expect(nodes.sighting('a').lease).toBeNull();
});

test('a node is gone since it was removed, or since the look began', () => {
  const nodes = newTable();
  nodes.startLooking(5);
  nodes.put('a', READY, 7);
  expect(nodes.sighting('a').goneSinceMs).toBeNull();
  nodes.remove('a', 50);
  expect(nodes.sighting('a')).toMatchObject({ node: null, goneSinceMs: 50 });
  expect(nodes.sighting('never-seen').goneSinceMs).toBe(5);
  nodes.put('a', READY, 7);
  nodes.remove('a', 90);
  expect(nodes.sighting('a').goneSinceMs).toBe(90);
});

test('a record that names no node is on none that is well, and on none that is lost', () => {
  expect(newTable().sighting('').node).toEqual({ isReady: false, isOutOfService: false });
});
