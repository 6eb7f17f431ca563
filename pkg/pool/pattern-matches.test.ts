import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { matchesAmong, PatternMatches } from './pattern-matches.ts';

const POOLS = ['b-1', 'a-2', 'a-1'].map((name) => buildPool({ name }));
const SIX = buildPool({ name: 'a-6', subnet: 'fd00::/64', ips: ['fd00::1'] });
const namesOf = (matches: PatternMatches, pattern: string) => matches.matching(pattern, 4).map(({ name }) => name);

test('pools of the family match in the order of their names', () => {
  const matches = new PatternMatches([...POOLS, SIX]);
  expect(namesOf(matches, 'a-*')).toEqual(['a-1', 'a-2']);
  expect(matches.matching('a-*', 6)).toEqual([SIX]);
  expect(() => matches.matching('a-[', 4)).toThrow('malformed pattern');
});

test('what was found is kept, and found again for the same list only', () => {
  const matches = matchesAmong(POOLS);
  expect(matches.matching('a-*', 4)).toBe(matches.matching('a-*', 4));
  expect(matchesAmong(POOLS)).toBe(matches);
  expect(matchesAmong([...POOLS])).not.toBe(matches);
});

test('after a change each pool is in it as it is now: changed, new, and gone ones', () => {
  const before = new PatternMatches(POOLS);
  expect(namesOf(before, 'a-*')).toEqual(['a-1', 'a-2']);
  const changed = buildPool({ name: 'a-2', isDisabled: true });
  const after = new PatternMatches([changed, buildPool({ name: 'a-3' }), buildPool({ name: 'b-3' })], before);
  expect(namesOf(after, 'a-*')).toEqual(['a-2', 'a-3']);
  expect(after.matching('a-*', 4)[0]).toBe(changed);
  expect(namesOf(after, 'b-*')).toEqual(['b-3']);
});

test('a search is done in steps of 50 pools, and only once', () => {
  const matches = new PatternMatches(Array.from({ length: 200 }, (_, at) => buildPool({ name: `p-${at}` })));
  const steps = () => [...matches.search('p-*', 4)].length;
  expect(steps()).toBe(3);
  expect(steps()).toBe(0);
});

test('no more than 200 patterns are kept', () => {
  const matches = new PatternMatches(POOLS);
  const first = matches.matching('a-*', 4);
  for (let at = 0; at < 200; at += 1) matches.matching(`a-${at}*`, 4);
  expect(matches.matching('a-*', 4)).not.toBe(first);
  expect(matches.matching('a-*', 4)).toEqual(first);
});
