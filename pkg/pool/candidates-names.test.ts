import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import type { NameList } from './asked-pools.ts';
import { expandNames } from './candidates.ts';

const KNOWN = ['a-1', 'a-2', 'b-1'].map((name) => buildPool({ name }));
const patterns = (count: number) => Array.from({ length: count }, (_, index) => `nothing-${index}-*`);

test('ten patterns are allowed beside any number of names', () => {
  const list: NameList = { from: 'x', fault: 'bad-annotation', names: [...patterns(9), 'b-1', 'a-*'] };
  const { candidates, unmatched } = expandNames(list, 4, KNOWN);
  expect(candidates.map(({ pool }) => pool.name)).toEqual(['b-1', 'a-1', 'a-2']);
  expect(unmatched).toEqual(patterns(9));
});

test.each([
  { from: 'pod annotation ipam.spidernet.io/ippool', fault: 'bad-annotation', family: 4, count: 11 },
  { from: 'CNI configuration', fault: 'bad-config', family: 6, count: 100 },
] as const)(
  '$count patterns are a $fault that names the bound: each is held against every pool',
  ({ from, fault, family, count }) => {
    const message = `${from}: ${count} patterns for IPv${family}, at most 10 are allowed`;
    const error = expect.objectContaining({ reason: fault, message });
    expect(() => expandNames({ from, fault, names: ['a-1', ...patterns(count)] }, family, KNOWN)).toThrow(error);
  },
);
