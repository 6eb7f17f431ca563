import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FreeSpace } from './free-space.ts';
import { IntervalSet } from './interval-set.ts';

const UNIVERSE = 24n;
const value = fc.bigInt(0n, UNIVERSE);
const step = fc.record({ verb: fc.constantFrom('take', 'give'), value });

test('any run of takes and gives behaves like a set of numbers', () => {
  fc.assert(
    fc.property(fc.uniqueArray(value), fc.array(step, { maxLength: 60 }), (start, steps) => {
      const toSet = (members: Iterable<bigint>) =>
        IntervalSet.of(Iterator.from(members).map((v) => ({ first: v, last: v })));
      const model = new Set(start);
      const space = new FreeSpace(toSet(start));
      for (const { verb, value } of steps) {
        if (verb === 'take') expect(space.take(value)).toBe(model.delete(value));
        else {
          space.give(value);
          model.add(value);
        }
        const expected = toSet(model);
        expect(space.size).toBe(expected.size);
        expect(space.lowest()).toBe(expected.lowest());
        for (let probe = -1n; probe <= UNIVERSE + 1n; probe += 1n) {
          expect(space.has(probe)).toBe(model.has(probe));
          expect(space.next(probe)).toBe(expected.next(probe));
          expect(space.nth(probe)).toBe([...model].sort((a, b) => Number(a - b))[Number(probe)] ?? null);
        }
      }
    }),
  );
});

test('every nth address is found and counted as in a list of numbers', () => {
  const modulus = fc.bigInt(1n, UNIVERSE + 2n);
  fc.assert(
    fc.property(fc.uniqueArray(value), modulus, value, fc.bigInt(0n, UNIVERSE + 1n), (members, modulus, rest, from) => {
      const residue = { modulus, rest: rest % modulus };
      const space = new FreeSpace(IntervalSet.of(members.map((v) => ({ first: v, last: v }))));
      const own = members.filter((v) => v % modulus === residue.rest).sort((a, b) => Number(a - b));
      expect(space.countOf(residue)).toBe(BigInt(own.length));
      expect(space.nextOf(residue, from)).toBe(own.find((v) => v >= from) ?? own[0] ?? null);
    }),
  );
});
