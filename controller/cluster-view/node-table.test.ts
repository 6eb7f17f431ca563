import { expect, test } from 'vitest';
import { NodeTable } from './node-table.ts';

const READY = { isReady: true, isOutOfService: false };

test('the first sight of a lease is no renewal, a changed one is', () => {
  const nodes = new NodeTable();
  nodes.put('a', READY);
  nodes.seeLease('a', 't1', 10);
  expect(nodes.sighting('a')).toMatchObject({ renewTime: 't1', renewedAtMs: null });
  nodes.seeLease('a', 't1', 20);
  expect(nodes.sighting('a').renewedAtMs).toBeNull();
  nodes.seeLease('a', 't2', 30);
  expect(nodes.sighting('a')).toMatchObject({ renewTime: 't2', renewedAtMs: 30 });
});

test('a node is gone since it was removed, or since the look began', () => {
  const nodes = new NodeTable();
  nodes.startLooking(5);
  nodes.put('a', READY);
  expect(nodes.sighting('a').goneSinceMs).toBeNull();
  nodes.remove('a', 50);
  expect(nodes.sighting('a')).toMatchObject({ node: null, goneSinceMs: 50 });
  expect(nodes.sighting('never-seen').goneSinceMs).toBe(5);
  nodes.put('a', READY);
  nodes.remove('a', 90);
  expect(nodes.sighting('a').goneSinceMs).toBe(90);
});

test('a record that names no node is on none that is well, and on none that is lost', () => {
  expect(new NodeTable().sighting('').node).toEqual({ isReady: false, isOutOfService: false });
});
