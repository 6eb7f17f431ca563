import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

const line = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replaceAll('\n', ''));

test('the lines are the same wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const splitter = new LineSplitter(1_000);
      const seen = at.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(at[index], end)));
      expect(seen).toEqual(lines);
    }),
  );
});

test.each([
  { name: 'in one chunk', chunks: ['12345678901'] },
  { name: 'in small ones', chunks: ['123456', '78901'] },
  { name: 'after good ones', chunks: ['1\n2\n', '12345678901\n'] },
])('a line over the limit is refused, $name', ({ chunks }) => {
  const splitter = new LineSplitter(10);
  expect(chunks.map((chunk) => splitter.push(Buffer.from(chunk))).at(-1)).toBeNull();
});

test('a line of exactly the limit passes', () => {
  expect(new LineSplitter(10).push(Buffer.from('1234567890\n'))).toEqual(['1234567890']);
});
