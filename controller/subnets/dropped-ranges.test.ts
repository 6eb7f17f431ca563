import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { nextDropped, readDropped } from './dropped-ranges.ts';

const set = (...ranges: string[]) => IntervalSet.of(ranges.map(parseRange));
const START = Date.parse('2026-11-18T12:00:00Z');
const at = (ms: number) => new Date(START + ms);

function withNote(note: string | null): KubeObject {
  const annotations = note === null ? {} : { 'ipledger.io/dropped-ranges': note };
  return { metadata: { name: 'w', uid: 'p-1', resourceVersion: '7', annotations } };
}

/** The pool after it lost these ranges at this time. */
function lose(pool: KubeObject, ms: number, lost: IntervalSet, addresses = IntervalSet.EMPTY): KubeObject {
  return withNote(nextDropped(pool, { lost, addresses }, { family: 4, now: at(ms) }));
}

const noteOf = ({ metadata }: KubeObject) => metadata.annotations?.['ipledger.io/dropped-ranges'];

test('a range counts for a minute', () => {
  const pool = lose(withNote(null), 0, set('10.0.0.11'));
  expect(noteOf(pool)).toBe('{"at":"2026-11-18T12:00:00.000Z","ips":["10.0.0.11"]}');
  expect(readDropped(pool, at(0))).toEqual({ addresses: set('10.0.0.11'), forMs: 60_000 });
  expect(readDropped(pool, at(59_000)).forMs).toBe(1_000);
  expect(readDropped(pool, at(60_000))).toEqual({ addresses: IntervalSet.EMPTY, forMs: 0 });
});

test('each range counts from the time at which it was lost, however often the pool changes afterwards', () => {
  let pool = lose(withNote(null), 0, set('10.0.0.11'));
  for (const ms of [20_000, 40_000, 50_000]) pool = lose(pool, ms, set(`10.0.0.${ms / 1_000}`));
  expect(readDropped(pool, at(50_000))).toEqual({
    addresses: set('10.0.0.11', '10.0.0.20', '10.0.0.40', '10.0.0.50'),
    forMs: 10_000,
  });
  expect(readDropped(pool, at(65_000))).toEqual({
    addresses: set('10.0.0.20', '10.0.0.40', '10.0.0.50'),
    forMs: 15_000,
  });
  const later = lose(pool, 85_000, IntervalSet.EMPTY);
  expect(readDropped(later, at(85_000)).addresses).toEqual(set('10.0.0.40', '10.0.0.50'));
  expect(nextDropped(later, { lost: set(), addresses: set() }, { family: 4, now: at(120_000) })).toBeNull();
});

test('what the pool has again is not dropped', () => {
  const pool = lose(lose(withNote(null), 0, set('10.0.0.11-10.0.0.14')), 5_000, set('10.0.0.20'));
  const again = lose(pool, 6_000, IntervalSet.EMPTY, set('10.0.0.12', '10.0.0.20'));
  expect(readDropped(again, at(6_000)).addresses).toEqual(set('10.0.0.11', '10.0.0.13-10.0.0.14'));
});

test('a pool that loses ranges all the time has at most one time for each second in its note', () => {
  let pool = withNote(null);
  for (let ms = 1; ms < 3_000; ms += 50) pool = lose(pool, ms, set(`10.0.1.${(ms / 50) | 0}`));
  expect(noteOf(pool)?.match(/"at"/g)).toHaveLength(3);
  expect(readDropped(pool, at(3_000)).addresses.size).toBe(60n);
});

test.each([
  '',
  'x',
  '{}',
  '{"at":"x","ips":[]}',
  '{"at":"2026-11-18T12:00:00Z","ips":["x"]}',
  '{"at":"2036-01-01T00:00:00Z","ips":[]}',
  '{"at":"2026-11-18T12:00:00Z","ips":["10.0.0.1"],"before":7}',
])('a note that makes no sense is none: %s', (note) => {
  expect(readDropped(withNote(note), at(0))).toEqual({ addresses: IntervalSet.EMPTY, forMs: 0 });
});
