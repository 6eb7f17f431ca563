import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareAge } from './age-order.ts';
import { Unserved } from './unserved.ts';

const claim = (at: number, pool = 'lab') => ({
  pool,
  namespace: 'prod',
  name: `vm-${at}`,
  createdAt: new Date(at * 1_000).toISOString(),
});

test('a look at a line of 10,000 costs some twenty comparisons, and so does an address that comes back', () => {
  let comparisons = 0;
  const unserved = new Unserved((a, b) => {
    comparisons += 1;
    return compareAge(a, b);
  });
  for (let at = 0; at < 10_000; at += 1) unserved.add(claim((at * 7_919) % 10_000), true);
  for (let at = 20_000; at < 20_100; at += 1) unserved.add(claim(at), false);
  comparisons = 0;
  for (let at = 0; at < 1_000; at += 1) {
    expect(unserved.countBefore(claim(at * 10))).toBe(at * 10);
    expect(unserved.countWith(claim(at * 10))).toBe(10_000);
    expect(unserved.first('lab', 1n)).toEqual(['prod/vm-0']);
    expect(unserved.notInLine('lab')).toHaveLength(100);
  }
  expect(comparisons).toBeLessThan(1_000 * 20);
  comparisons = 0;
  expect(unserved.remove('prod/vm-5000')).toBe('lab');
  unserved.add(claim(5_000), true);
  expect(comparisons).toBeLessThan(60);
});

test('whatever comes and goes, the line is that of a list which is sorted each time', () => {
  const step = fc.record({
    at: fc.nat(20),
    pool: fc.constantFrom('lab', 'other'),
    isInLine: fc.boolean(),
    stays: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const unserved = new Unserved();
      const model = new Map<string, (typeof steps)[number]>();
      for (const one of steps) {
        const key = `prod/vm-${one.at}`;
        if (one.stays) {
          unserved.add(claim(one.at, one.pool), one.isInLine);
          model.set(key, one);
        } else {
          const before = model.get(key);
          expect(unserved.remove(key)).toBe(before?.isInLine === true ? before.pool : null);
          model.delete(key);
        }
      }
      const keysOf = (isInLine: boolean) =>
        [...model.values()]
          .filter((it) => it.pool === 'lab' && it.isInLine === isInLine)
          .toSorted((a, b) => a.at - b.at)
          .map(({ at }) => `prod/vm-${at}`);
      expect(unserved.first('lab', 99n)).toEqual(keysOf(true));
      expect(unserved.notInLine('lab')).toEqual(keysOf(false));
      expect(unserved.keysOf(() => true)).toHaveLength(model.size);
    }),
  );
});
