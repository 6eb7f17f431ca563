import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedPlaces } from './shared-places.ts';

const LIMITS = { inAll: 6, inGroup: 4 };

/** `a3 b1`: three places of group a, one of b, in this order. */
function placesOf(text: string): SharedPlaces {
  const places = new SharedPlaces(LIMITS);
  for (const [group = '', ...count] of text.split(' ')) {
    for (let at = 1; at <= Number(count.join('')); at += 1) places.take(group, `${group}${at}`);
  }
  return places;
}

const anybody = () => true;

test.each([
  { name: 'there is room', taken: 'a3 b1', full: null, giver: 'a3' },
  { name: 'a group has all that it may have', taken: 'x4', full: 'inGroup', giver: null },
  { name: 'all are taken, most of them by one', taken: 'a4 x2', full: 'inAll', giver: 'a4' },
  { name: 'all are taken, and it has none', taken: 'a2 b4', full: 'inAll', giver: 'b4' },
  { name: 'all are taken, and nobody has two more', taken: 'a3 x3', full: 'inAll', giver: null },
  { name: 'all are taken, and one more would turn it round', taken: 'a1 b3 x2', full: 'inAll', giver: null },
  {
    name: 'who has the most may keep them',
    taken: 'a4 b2',
    mayGo: (key: string) => key !== 'a4',
    full: 'inAll',
    giver: 'a3',
  },
  { name: 'no other may go', taken: 'a4 b2', mayGo: (key: string) => key.startsWith('b'), full: 'inAll', giver: 'b2' },
])('one more of x: $name', ({ taken, mayGo = anybody, full, giver }) => {
  const places = placesOf(taken);
  expect(places.fullFor('x')).toBe(full);
  expect(places.giverFor('x', mayGo)).toBe(giver);
});

test('a place counts once, until it is free', () => {
  const places = placesOf('a3');
  places.take('a', 'a1');
  expect([places.size, places.countIn('a')]).toEqual([3, 3]);
  for (const key of ['a1', 'a1', 'unknown']) places.free('a', key);
  expect([places.size, places.countIn('a'), places.countIn('b')]).toEqual([2, 2, 0]);
});

test('whatever the order in which groups ask, who has fewer than it asked for has at most one less than any other', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 60 }), (asks) => {
      const places = new SharedPlaces(LIMITS);
      for (const [at, group] of asks.entries()) askFor(places, group, `${group}${at}`);
      const groups = ['a', 'b', 'c', 'd'].map((group) => {
        const asked = asks.filter((it) => it === group).length;
        return { has: places.countIn(group), wants: Math.min(asked, LIMITS.inGroup) };
      });
      const most = Math.max(...groups.map(({ has }) => has));
      for (const { has, wants } of groups) if (has < wants) expect(has).toBeGreaterThanOrEqual(most - 1);
      const wanted = groups.reduce((sum, { wants }) => sum + wants, 0);
      expect(places.size).toBe(Math.min(LIMITS.inAll, wanted));
    }),
  );
});

function askFor(places: SharedPlaces, group: string, key: string): void {
  const full = places.fullFor(group);
  const giver = full === 'inAll' ? places.giverFor(group, anybody) : null;
  if (full !== null && giver === null) return;
  if (giver !== null) places.free(giver.slice(0, 1), giver);
  places.take(group, key);
}
