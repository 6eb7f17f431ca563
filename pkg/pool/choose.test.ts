import { expect, test } from 'vitest';
import { FreeSpace } from '#pkg/ip/free-space.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { chooseOwn, countOwn, cursorApart, shareOf, startCursor, startOffset } from './choose.ts';

test('the offset of a node is the same on every run: a restarted agent goes on where it was', () => {
  expect(startOffset('worker-1', 'pool-a', 1n << 64n)).toBe(0x7ecb7684bbf80fa3n);
});

test('node and pool are told apart', () => {
  expect(startOffset('a', 'bc', 1n << 64n)).not.toBe(startOffset('ab', 'c', 1n << 64n));
});

test.each([0n, 1n, 7n, 254n, 1n << 80n])('the offset lies inside of a pool of %s addresses', (size) => {
  for (let node = 0; node < 100; node++) {
    const offset = startOffset(`worker-${node}`, 'pool-a', size);
    expect(offset === 0n || (offset > 0n && offset < size)).toBe(true);
  }
});

test('a hundred nodes spread over a pool about as evenly as dice would', () => {
  const quarters = [0, 0, 0, 0];
  for (let node = 0; node < 100; node++) {
    const quarter = Number(startOffset(`worker-${node}`, 'pool-a', 1024n) / 256n);
    quarters[quarter] = (quarters[quarter] ?? 0) + 1;
  }
  for (const count of quarters) expect(count).toBeGreaterThan(12);
});

test('a first search starts at an address of the pool, also when it has gaps', () => {
  const pool = buildPool({ ips: ['10.0.0.10-10.0.0.12', '10.0.0.200-10.0.0.203'] });
  for (let node = 0; node < 50; node++) expect(pool.addresses.contains(startCursor(`worker-${node}`, pool))).toBe(true);
});

test('a pool without addresses has a cursor and gives nothing', () => {
  const pool = buildPool({ ips: [] });
  expect(new FreeSpace(pool.addresses).next(startCursor('worker-1', pool))).toBeNull();
});

test.each([
  { name: 'the cursor itself when it is free', cursor: 5n, value: 5n },
  { name: 'the next free one behind a gap', cursor: 13n, value: 20n },
  { name: 'the lowest one past the end', cursor: 61n, value: 1n },
])('next-fit takes $name', ({ cursor, value }) => {
  expect(space().next(cursor)).toBe(value);
});

test.each([
  { rank: 0, of: 1, value: 1n },
  { rank: 0, of: 4, value: 1n },
  { rank: 1, of: 4, value: 23n },
  { rank: 2, of: 4, value: 36n },
  { rank: 3, of: 4, value: 48n },
  { rank: 999, of: 1000, value: 60n },
])('with nothing of its own left node $rank of $of looks from $value on', ({ value, ...share }) => {
  expect(cursorApart(space(), share)).toBe(value);
});

test.each([
  { name: 'the cursor itself when it is its own', cursor: 6n, value: 6n },
  { name: 'the next of its own', cursor: 3n, value: 6n },
  { name: 'the next of its own behind a gap', cursor: 7n, value: 22n },
  { name: 'its lowest past the end', cursor: 59n, value: 2n },
  { name: 'its lowest past the last interval', cursor: 61n, value: 2n },
])('of four nodes the one with rank 2 takes $name', ({ cursor, value }) => {
  expect(chooseOwn(space(), cursor, { rank: 2, of: 4 })).toBe(value);
});

test('nothing is chosen of a share that is used up', () => {
  const free = new FreeSpace(IntervalSet.of([{ first: 5n, last: 7n }]));
  expect([chooseOwn(free, 0n, { rank: 0, of: 4 }), countOwn(free, { rank: 0, of: 4 })]).toEqual([null, 0n]);
});

test('who is alone has no share to keep to', () => {
  expect(countOwn(space(), { rank: 0, of: 1 })).toBe(0n);
});

test.each([
  { name: 'the only one', nodes: [], share: { rank: 0, of: 1 } },
  { name: 'as often as it has addresses', nodes: ['b', 'b', 'b'], share: { rank: 0, of: 1 } },
  { name: 'one of three', nodes: ['c', 'a', 'c', 'b'], share: { rank: 1, of: 3 } },
  { name: 'new in the pool', nodes: ['c', 'a'], share: { rank: 1, of: 3 } },
  { name: 'beside holders without a node', nodes: ['', 'a', ''], share: { rank: 1, of: 2 } },
])('the share of a node that is $name', ({ nodes, share }) => {
  expect(shareOf('b', nodes)).toEqual(share);
});

const NODES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

test('the shares of all nodes are the whole pool, each address once', () => {
  const chosen = NODES.flatMap((node) => {
    const [free, share] = [space(), shareOf(node, NODES)];
    return Array.from({ length: Number(countOwn(free, share)) }, () => {
      const value = chooseOwn(free, 30n, share) ?? -1n;
      free.take(value);
      return value;
    });
  });
  expect(chosen.toSorted((a, b) => Number(a - b))).toEqual(addressesOf(space()));
});

test('nodes with nothing of their own left look in different places', () => {
  expect(new Set(NODES.map((node) => cursorApart(space(), shareOf(node, NODES)))).size).toBe(NODES.length);
});

test('nothing free is nothing chosen', () => {
  const full = new FreeSpace(IntervalSet.EMPTY);
  const share = { rank: 1, of: 2 };
  expect([full.next(0n), chooseOwn(full, 0n, share), cursorApart(full, share)]).toEqual(
    Array.from({ length: 3 }, () => null),
  );
});

/** Free: 1 … 9 and 20 … 60. */
function space(): FreeSpace {
  return new FreeSpace(
    IntervalSet.of([
      { first: 1n, last: 9n },
      { first: 20n, last: 60n },
    ]),
  );
}

function addressesOf(free: FreeSpace): bigint[] {
  return Array.from({ length: Number(free.size) }, (_, at) => free.nth(BigInt(at)) ?? -1n);
}
