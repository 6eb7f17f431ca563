import { expect, test } from 'vitest';
import { toPrintable, toPrintableJson, toPrintableLines } from './printable.ts';

const esc = String.fromCharCode(0x1b);
const c1 = String.fromCharCode(0x9b);

test('control characters are replaced at every depth', () => {
  const hostile = { records: [{ name: `a${esc}[2Jb`, attachGeneration: 1, gone: null }], next: `x\ny${c1}` };
  expect(toPrintable(hostile)).toEqual({
    records: [{ name: 'a?[2Jb', attachGeneration: 1, gone: null }],
    next: 'x?y?',
  });
});

test('text of several lines keeps its line ends and nothing else', () => {
  expect(toPrintableLines(`one\r\ntwo${esc}[31m\tthree`)).toBe('one?\ntwo?[31m?three');
});

test('JSON carries the exact text without a raw control character', () => {
  const text = toPrintableJson({ name: `a${esc}b${c1}ü` });
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  expect(JSON.parse(text)).toEqual({ name: `a${esc}b${c1}ü` });
});
