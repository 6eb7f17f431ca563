import { expect, test } from 'vitest';
import { toFacts, toTable } from './table.ts';

test('a column is as wide as its widest cell and the last one leaves no blanks behind', () => {
  const text = toTable(
    ['ADDRESS', 'POOL'],
    [
      ['10.0.0.5', 'v4'],
      ['fd00::5', ''],
    ],
  );
  expect(text).toBe('ADDRESS   POOL\n10.0.0.5  v4\nfd00::5   -\n');
});

test('a table without rows is its header', () => {
  expect(toTable(['A', 'B'], [])).toBe('A  B\n');
});

test('facts without a value are left out', () => {
  const text = toFacts([
    ['pool', 'v4'],
    ['gateway', undefined],
    ['node', ''],
    ['interface', 'eth0'],
  ]);
  expect(text).toBe('  pool       v4\n  interface  eth0\n');
});
