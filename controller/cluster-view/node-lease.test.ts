import { expect, test } from 'vitest';
import { seeRenewal } from './node-lease.ts';

const FIRST = '2026-11-16T10:00:00.000000Z';
const after = (seconds: number) => new Date(Date.parse(FIRST) + seconds * 1_000).toISOString();

test('the first sight of a lease is no renewal, a changed one is', () => {
  const first = seeRenewal(null, FIRST, 1_000, 25_000);
  expect(first).toEqual({ renewTime: FIRST, renewedAtMs: null, steadySinceMs: 1_000 });
  expect(seeRenewal(first, FIRST, 5_000, 25_000)).toEqual(first);
  expect(seeRenewal(first, after(10), 9_000, 25_000).renewedAtMs).toBe(9_000);
});

test.each([
  { name: 'renewed 10 s later: without a gap', written: 10, seen: 10, steadySinceMs: 0 },
  { name: 'renewed as late as it may be: without a gap', written: 25, seen: 25, steadySinceMs: 0 },
  { name: 'renewed too late: since then', written: 26, seen: 26, steadySinceMs: 26_000 },
  {
    name: 'of a node that was away before this leader came: since then',
    written: 3_600,
    seen: 5,
    steadySinceMs: 5_000,
  },
  { name: 'seen late, after a watch that stood still: since then', written: 10, seen: 60, steadySinceMs: 60_000 },
  { name: 'of a node whose clock went back: since then', written: -10, seen: 10, steadySinceMs: 10_000 },
])('$name', ({ written, seen, steadySinceMs }) => {
  const first = seeRenewal(null, FIRST, 0, 25_000);
  expect(seeRenewal(first, after(written), seen * 1_000, 25_000).steadySinceMs).toBe(steadySinceMs);
});

test('many renewals in a row are steady since the first, and after a gap since its end', () => {
  let lease = seeRenewal(null, FIRST, 0, 25_000);
  for (const seconds of [10, 20, 30, 40]) lease = seeRenewal(lease, after(seconds), seconds * 1_000, 25_000);
  expect(lease.steadySinceMs).toBe(0);
  for (const seconds of [3_640, 3_650]) lease = seeRenewal(lease, after(seconds), seconds * 1_000, 25_000);
  expect(lease).toMatchObject({ renewedAtMs: 3_650_000, steadySinceMs: 3_640_000 });
});
