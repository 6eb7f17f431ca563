import { describe, expect, test } from 'vitest';
import { planExpiry, readExpiryMs } from './expiry.ts';

const T0 = Date.parse('2026-05-19T09:00:00Z');
const TTL = 3_600;
const HALF_MS = (TTL / 2) * 1_000;
const HOUR_MS = 3_600_000;
const COUNT = 10_000;
const FEWER = 2_000;

interface Allocation {
  readonly uid: string;
  expiresAt: string;
  writtenMs: number;
}

const plan = (it: { uid: string; expiresAt?: string }, nowMs: number, leadingMs = T0) =>
  planExpiry({
    stored: it.expiresAt,
    ttlSeconds: TTL,
    uid: it.uid,
    evenSince: new Date(leadingMs),
    now: new Date(nowMs),
  });

/** 10,000 that were made within the same second, on virtual time: each is looked at when it asked for it. */
function* live(
  untilMs: number,
  from: { readonly startMs: number; readonly leadingMs: number; readonly stamp: string; readonly count?: number },
) {
  const queue = Array.from({ length: from.count ?? COUNT }, (_, at) => {
    const allocation: Allocation = { uid: `uid-${at}`, expiresAt: from.stamp, writtenMs: T0 };
    return { allocation, atMs: from.startMs };
  });
  for (const { allocation, atMs } of queue) {
    for (let nowMs = atMs; nowMs <= untilMs; ) {
      const { expiresAt, dueInMs } = plan(allocation, nowMs, from.leadingMs);
      if (expiresAt !== null && expiresAt !== allocation.expiresAt) {
        yield { atMs: nowMs, sinceMs: nowMs - allocation.writtenMs, uid: allocation.uid };
        allocation.expiresAt = expiresAt;
        allocation.writtenMs = nowMs;
      }
      nowMs += Math.max(dueInMs ?? untilMs, 1);
    }
  }
}

function perSecond(renewals: readonly { readonly atMs: number }[]): number {
  const counts = Map.groupBy(renewals, ({ atMs }) => Math.floor(atMs / 1_000));
  return Math.max(...[...counts.values()].map((all) => all.length));
}

const STAMP = '2026-05-19T10:00:00Z';

describe('10,000 renewals', () => {
  const renewals = [...live(T0 + 4 * HALF_MS, { startMs: T0, leadingMs: T0, stamp: STAMP })];

  test('are spread over half their time, and never in a burst', () => {
    // Evenly it would be 5.6 a second.
    expect(perSecond(renewals)).toBeLessThan(30);
    const first = [...Map.groupBy(renewals, ({ uid }) => uid).values()].flatMap((own) => own.slice(0, 1));
    const quarters = Map.groupBy(first, ({ atMs }) => Math.floor((4 * (atMs - 1 - T0 - HALF_MS / 2)) / HALF_MS));
    expect([...quarters.keys()].toSorted()).toEqual([0, 1, 2, 3]);
    for (const quarter of quarters.values()) expect(Math.abs(quarter.length - COUNT / 4)).toBeLessThan(COUNT / 20);
  });

  test('are one write each in half a time', () => {
    const each = Map.groupBy(renewals, ({ uid }) => uid);
    expect(each.size).toBe(COUNT);
    for (const own of each.values()) {
      expect([3, 4]).toContain(own.length);
      for (const { sinceMs } of own.slice(1)) expect(sinceMs).toBe(HALF_MS);
    }
  });

  test('after a day without a controller are spread too', () => {
    const backMs = T0 + 24 * HOUR_MS;
    const late = [...live(backMs + HALF_MS, { startMs: backMs, leadingMs: backMs, stamp: STAMP, count: FEWER })];
    expect(late.length).toBe(FEWER);
    expect(perSecond(late)).toBeLessThan(12);
  });

  test.each([
    { name: 'back', byMs: -HOUR_MS },
    { name: 'forward', byMs: HOUR_MS },
  ])('after the clock was set $name by an hour come in no burst either', ({ byMs }) => {
    const turned = [
      ...live(T0 + 3 * HOUR_MS, { startMs: T0 + byMs, leadingMs: T0 + byMs, stamp: STAMP, count: FEWER }),
    ];
    expect(perSecond(turned)).toBeLessThan(12);
    expect(new Set(turned.map(({ uid }) => uid)).size).toBe(FEWER);
  });
});

test('an address without a time gets one at once, in whole seconds', () => {
  for (const stored of [undefined, null, '', 'soon', 7]) {
    const { expiresAt } = planExpiry({
      stored,
      ttlSeconds: 60,
      uid: 'u',
      evenSince: new Date(T0),
      now: new Date(T0 + 789),
    });
    expect(expiresAt).toBe('2026-05-19T09:01:00Z');
  }
});

test('a stamp never has less than a quarter of its time left while it is renewed at its moments', () => {
  let stored = STAMP;
  for (let nowMs = T0; nowMs < T0 + 10 * HALF_MS; ) {
    const { expiresAt, dueInMs } = plan({ uid: 'one', expiresAt: stored }, nowMs);
    stored = expiresAt ?? '';
    expect((readExpiryMs(stored) ?? 0) - nowMs).toBeGreaterThanOrEqual(HALF_MS / 2 - 1_000);
    nowMs += dueInMs ?? 0;
  }
});

test('without a time to live nothing expires', () => {
  const stored = STAMP;
  const now = new Date(T0);
  expect(planExpiry({ stored, ttlSeconds: 0, uid: 'u', evenSince: now, now })).toEqual({
    expiresAt: null,
    dueInMs: null,
  });
});
