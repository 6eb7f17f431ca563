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

test('the matches are kept for the same list only', () => {
  const matches = matchesAmong(POOLS);
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

test('a pattern is held against each name once, in steps of 50 names', () => {
  const pools = Array.from({ length: 200 }, (_, at) => buildPool({ name: `p-${at}` }));
  const matches = new PatternMatches(pools);
  const steps = (among: PatternMatches) => [...among.search('p-*', 4)].length;
  expect(steps(matches)).toBe(4);
  expect(steps(matches)).toBe(0);
});

test('what is known of a pattern outlives changes of the pools in which nothing asked for it', () => {
  const pools = Array.from({ length: 200 }, (_, at) => buildPool({ name: `p-${at}` }));
  const first = new PatternMatches(pools);
  first.matching('p-*', 4);
  const second = new PatternMatches([...pools, buildPool({ name: 'q' })], first);
  const third = new PatternMatches([...pools, buildPool({ name: 'p-new' })], second);
  expect([...third.search('p-*', 4)]).toHaveLength(0);
  expect(namesOf(third, 'p-*')).toHaveLength(201);
});

test('names of pools that are gone are forgotten after a while, and what is known of the others is not', () => {
  const stay = Array.from({ length: 100 }, (_, at) => buildPool({ name: `p-${at}` }));
  let matches = new PatternMatches(stay);
  expect(namesOf(matches, '*[0-4]')).toHaveLength(50);
  for (let at = 0; at < 1_500; at += 1)
    matches = new PatternMatches([...stay, buildPool({ name: `gone-${at}` })], matches);
  expect([...matches.search('*[0-4]', 4)]).toHaveLength(0);
  expect(namesOf(matches, '*[0-4]')).toHaveLength(50);
});

test('the patterns of all ADDs that an agent has at once are kept, and the one that was not asked for longest goes first', () => {
  const pools = Array.from({ length: 50 }, (_, at) => buildPool({ name: `p-${at}` }));
  const matches = new PatternMatches(pools);
  const steps = (pattern: string) => [...matches.search(pattern, 4)].length;
  for (const pattern of ['p-*', 'p-1*']) expect(steps(pattern)).toBe(1);
  for (let at = 0; at < 1_064 * 20; at += 1) matches.matching(`x${at}*`, 4);
  expect(steps('p-*')).toBe(0);
  for (let at = 0; at < 25_000 - 1; at += 1) matches.matching(`y${at}*`, 4);
  expect([steps('p-*'), steps('p-1*')]).toEqual([0, 1]);
});
