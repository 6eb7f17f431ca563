import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { compilePattern } from './wildcard.ts';

interface Piece {
  readonly text: string;
  /** Null for a star. */
  readonly accepts: ((char: string) => boolean) | null;
}

const letter = fc.constantFrom('a', 'b', 'c', '-');
const plain: fc.Arbitrary<Piece> = fc.oneof(
  letter.map((char) => ({ text: char, accepts: (seen: string) => seen === char })),
  fc
    .constantFrom('*', '?', '[', '\\', 'a')
    .map((char) => ({ text: `\\${char}`, accepts: (seen: string) => seen === char })),
  fc.constant({ text: '/', accepts: (seen: string) => seen === '/' }),
  fc.constant({ text: '?', accepts: (seen: string) => seen !== '/' }),
  fc.constant({ text: '*', accepts: null }),
  fc.constant({ text: '[a-b]', accepts: (seen: string) => seen === 'a' || seen === 'b' }),
  fc.constant({ text: '[a\\-]', accepts: (seen: string) => seen === 'a' || seen === '-' }),
);
const negated: fc.Arbitrary<Piece> = fc.constant({ text: '[^a-b]', accepts: (seen) => seen !== 'a' && seen !== 'b' });

const nameOf = (...chars: string[]) => fc.array(fc.constantFrom(...chars), { maxLength: 12 });

test('a compiled pattern agrees with a naive recursive matcher', () => {
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 8 }), nameOf('a', 'b', 'c', '-', '/', '*', '['), (pieces, name) => {
      const pattern = pieces.map(({ text }) => text).join('');
      expect(compilePattern(pattern)(name.join(''))).toBe(matchesNaively(pieces, name));
    }),
    { numRuns: 2000 },
  );
});

test('it agrees with negated classes too, where names have no slash', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(plain, negated), { maxLength: 8 }), nameOf('a', 'b', 'c', '*'), (pieces, name) => {
      const pattern = pieces.map(({ text }) => text).join('');
      expect(compilePattern(pattern)(name.join(''))).toBe(matchesNaively(pieces, name));
    }),
    { numRuns: 2000 },
  );
});

test('any text either compiles or is refused as bad input', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(fc.constantFrom('[', ']', '^', '-', '\\', '*', 'a'), fc.string()) }),
      (pattern) => {
        try {
          compilePattern(pattern)('abc');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(IpamError);
          expect(thrown).toMatchObject({ reason: 'bad-input' });
        }
      },
    ),
  );
});

function matchesNaively(pieces: readonly Piece[], name: readonly string[]): boolean {
  const [piece, ...rest] = pieces;
  const [char, ...others] = name;
  if (piece === undefined) return char === undefined;
  if (piece.accepts !== null) return char !== undefined && piece.accepts(char) && matchesNaively(rest, others);
  return matchesNaively(rest, name) || (char !== undefined && char !== '/' && matchesNaively(pieces, others));
}
