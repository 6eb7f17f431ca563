import { expect, test } from 'vitest';
import { NODE_HERE, NODE_NOT_READY, NODE_STALE, NOW_MS, nodeGoneFor } from '#test/support/build-evidence.ts';
import { type NodeReading, sightAgain } from './sight-again.ts';

const READY: NodeReading = {
  node: { isReady: true, isOutOfService: false },
  renewTime: '2026-11-16T12:00:05.000000Z',
};
const NOT_READY: NodeReading = { ...READY, node: { isReady: false, isOutOfService: false } };

test.each([
  { name: 'well as before: for as long as before', known: NODE_HERE, read: READY, ready: 0, steady: 0 },
  { name: 'Ready, and not so a moment ago: since now', known: NODE_NOT_READY, read: READY, ready: NOW_MS, steady: 0 },
  { name: 'renewed after a gap: since now', known: NODE_STALE, read: READY, ready: 0, steady: NOW_MS },
  { name: 'not Ready any more: not at all', known: NODE_HERE, read: NOT_READY, ready: null, steady: 0 },
  { name: 'made again: since now', known: nodeGoneFor(900), read: READY, ready: NOW_MS, steady: 0 },
  { name: 'gone: not at all', known: NODE_HERE, read: { ...READY, node: null }, ready: null, steady: 0 },
])('a node that is read as $name', ({ known, read, ready, steady }) => {
  const sighting = sightAgain(known, read, NOW_MS, 25_000);
  expect(sighting).toMatchObject({ readySinceMs: ready, lease: { renewedAtMs: NOW_MS, steadySinceMs: steady } });
  expect(sighting.goneSinceMs).toBe(read.node === null ? NOW_MS : null);
});

test('a node that is still gone is gone since it was first missed, and a lease that is gone says nothing new', () => {
  const known = nodeGoneFor(900);
  expect(sightAgain(known, { node: null, renewTime: null }, NOW_MS, 25_000)).toEqual(known);
});
