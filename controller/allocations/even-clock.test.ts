import { describe, expect, test } from 'vitest';
import { planExpiry } from '#controller/allocation-plan/expiry.ts';
import { EvenClock } from './even-clock.ts';

const T0 = Date.parse('2026-05-19T09:00:00Z');
const TTL = 3_600;
const HALF_MS = (TTL / 2) * 1_000;
/** Each second is looked what is due. */
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const COUNT = 2_000;
/** The reconciler looks at each allocation again after this time at most. */
const LOOK_MS = 600_000;
const SET_AT_MS = 1.5 * HOUR_MS;
const END_MS = SET_AT_MS + 2 * HALF_MS;

/** The renewals under one leader whose clock is set while it leads; all are looked at then, as after a change of a SpiderReservedIP. */
function renewals(byMs: number): { readonly uid: string; readonly atMs: number }[] {
  let atMs = 0;
  const now = () => new Date(T0 + atMs + (atMs < SET_AT_MS ? 0 : byMs));
  const clock = new EvenClock(now, () => atMs);
  const due = Array.from({ length: COUNT }, (_, index) => ({
    uid: `uid-${index}`,
    stored: '2026-05-19T10:00:00Z',
    atMs: 0,
  }));
  const found: { uid: string; atMs: number }[] = [];
  const untilMs = (endMs: number) => {
    for (; atMs < endMs; atMs += SECOND_MS) {
      for (const it of due.filter((one) => one.atMs <= atMs)) {
        const { uid, stored } = it;
        const { expiresAt, dueInMs } = planExpiry({
          stored,
          ttlSeconds: TTL,
          uid,
          evenSince: clock.since(),
          now: now(),
        });
        if (expiresAt !== null && expiresAt !== stored) {
          it.stored = expiresAt;
          found.push({ uid, atMs });
        }
        it.atMs = atMs + Math.min(Math.max(dueInMs ?? LOOK_MS, 1_000), LOOK_MS);
      }
    }
  };
  untilMs(SET_AT_MS);
  for (const it of due) it.atMs = SET_AT_MS;
  untilMs(END_MS);
  return found;
}

describe.each([
  { name: 'forward', byMs: HOUR_MS },
  { name: 'back', byMs: -HOUR_MS },
])('a clock that is set $name by an hour under one leader', ({ byMs }) => {
  const all = renewals(byMs);
  const after = all.filter(({ atMs }) => atMs >= SET_AT_MS);

  test('makes no burst of renewals, also when all allocations are looked at then', () => {
    const counts = Map.groupBy(all, ({ atMs }) => Math.floor(atMs / 1_000));
    // Evenly it would be 1.1 a second.
    expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBeLessThan(12);
  });

  test('leaves no allocation without a renewal in the half of its time that follows, and makes none twice in it', () => {
    const early = after.filter(({ atMs }) => atMs <= SET_AT_MS + HALF_MS + SECOND_MS);
    expect(new Set(early.map(({ uid }) => uid)).size).toBe(COUNT);
    expect(early).toHaveLength(COUNT);
  });
});

test('a clock that is only adjusted runs evenly', () => {
  let nowMs = 0;
  const clock = new EvenClock(
    () => new Date(T0 + nowMs * 1.000_5),
    () => nowMs,
  );
  for (; nowMs < 24 * HOUR_MS; nowMs += LOOK_MS) expect(clock.since()).toEqual(new Date(T0));
});

test('a later moment counts, also when the clock is set after it; an earlier one does not', () => {
  let [atMs, byMs] = [0, 0];
  const clock = new EvenClock(
    () => new Date(T0 + atMs + byMs),
    () => atMs,
  );
  atMs = 10_000;
  expect(clock.sinceLater(7_000)).toEqual(new Date(T0 + 7_000));
  expect(clock.sinceLater(-7_000)).toEqual(new Date(T0));
  byMs = -HOUR_MS;
  expect(clock.sinceLater(7_000)).toEqual(new Date(T0 + 10_000 - HOUR_MS));
});
