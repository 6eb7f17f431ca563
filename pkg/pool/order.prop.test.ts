import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import type { Candidate } from './candidates.ts';
import { comparePools } from './order.ts';

const selector = fc.constantFrom(null, { matchLabels: {}, matchExpressions: [] });
const names = fc.constantFrom([], ['x'], ['x', 'y']);
const candidate: fc.Arbitrary<Candidate> = fc.record({
  listedAt: fc.nat(3),
  pool: fc
    .record({
      name: fc.constantFrom('a', 'b', 'B', 'ä'),
      podAffinity: selector,
      nodeNames: names,
      nodeAffinity: selector,
      namespaceNames: names,
      namespaceAffinity: selector,
      multusNames: names,
    })
    .map(buildPool),
});

test('of two candidates exactly one comes first, whichever is asked about; equal means the same claims, place and name', () => {
  fc.assert(
    fc.property(candidate, candidate, (a, b) => {
      expect(Math.sign(comparePools(a, b)) + Math.sign(comparePools(b, a))).toBe(0);
      expect(comparePools(a, b) === 0).toBe(identity(a) === identity(b));
    }),
  );
});

test('the order is transitive', () => {
  fc.assert(
    fc.property(candidate, candidate, candidate, (a, b, c) => {
      if (comparePools(a, b) <= 0 && comparePools(b, c) <= 0) expect(comparePools(a, c)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 1000 },
  );
});

test('a list sorts to the same order from any order', () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 8 }), (list) => {
      const sorted = list.toSorted(comparePools).map(identity);
      expect(list.toReversed().sort(comparePools).map(identity)).toEqual(sorted);
    }),
  );
});

function identity({ pool, listedAt }: Candidate): string {
  const claims = [pool.podAffinity, pool.nodeAffinity, pool.namespaceAffinity].map((claim) => claim !== null);
  const lists = [pool.nodeNames, pool.namespaceNames, pool.multusNames].map((list) => list.length > 0);
  return JSON.stringify([claims, lists, listedAt, pool.name]);
}
