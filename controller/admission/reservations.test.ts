import { describe, expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { type Neighbours, Reservations, Reserved } from './reservations.ts';

const pool = (name: string, ...ips: string[]) => buildPool({ name, ips });
const NEW = { isChange: false };
const CHANGE = { isChange: true };
const namesIn = (pools: readonly { readonly name: string }[]) => pools.map(({ name }) => name);

test('what was admitted counts until it is stored', () => {
  const reservations = new Reserved(() => 0);
  reservations.hold(pool('a', '10.0.0.1'), NEW);
  expect(namesIn(reservations.beyond([]))).toEqual(['a']);
  expect(namesIn(reservations.beyond([pool('a', '10.0.0.1-10.0.0.2')]))).toEqual([]);
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('a change counts until the change is stored', () => {
  const reservations = new Reserved(() => 0);
  reservations.hold(pool('a', '10.0.0.1-10.0.0.9'), CHANGE);
  expect(namesIn(reservations.beyond([pool('a', '10.0.0.1')]))).toEqual(['a']);
});

test('a change that can never be stored does not count: the pool is gone, or another one of its name is there', () => {
  const wide = { ...pool('a', '10.0.0.1-10.0.0.9'), uid: 'old' };
  const reservations = new Reserved(() => 0);
  reservations.hold(wide, CHANGE);
  expect(namesIn(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'old' }]))).toEqual(['a']);
  expect(namesIn(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'new' }]))).toEqual([]);
  reservations.hold(wide, CHANGE);
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('a late change of an older pool does not take the place of a new one', () => {
  const reservations = new Reserved(() => 0);
  reservations.hold({ ...pool('a', '10.0.0.1-10.0.0.9'), uid: 'new' }, NEW);
  reservations.hold({ ...pool('a', '10.0.0.1'), uid: 'old' }, CHANGE);
  expect(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'other' }]).map(({ uid }) => uid)).toEqual(['new']);
  reservations.hold({ ...pool('a', '10.0.0.1-10.0.0.4'), uid: 'new' }, CHANGE);
  expect(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'new' }])).toHaveLength(1);
});

test('what was never stored is forgotten after a while, or with its deletion', () => {
  let nowMs = 0;
  const reservations = new Reserved(() => nowMs);
  reservations.hold(pool('a', '10.0.0.1'), NEW);
  reservations.hold({ ...pool('b', '10.0.0.2'), uid: 'uid-of-b' }, NEW);
  reservations.drop('uid-of-b');
  expect(namesIn(reservations.beyond([]))).toEqual(['a']);
  nowMs = 2_000;
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('a stranger, who does not know its uid, does not replace a reservation', () => {
  const reservations = new Reserved(() => 0);
  reservations.hold({ ...pool('a', '10.0.0.1-10.0.0.9'), uid: 'real' }, NEW);
  reservations.hold({ ...pool('a', '10.0.9.9'), uid: '' }, NEW);
  expect(reservations.beyond([]).map(({ uid }) => uid)).toEqual(['real', '']);
});

test('only so many are remembered', () => {
  const reservations = new Reserved(() => 0);
  for (let n = 0; n < 1_005; n++) reservations.hold({ ...pool('a', '10.0.0.1'), uid: `uid-${n}` }, NEW);
  expect(reservations.beyond([])).toHaveLength(1_000);
});

describe('a review that meets a reservation', () => {
  const REFUSED = { allowed: false, forbidden: 'it is taken' } as const;
  const judgement = (stored: Neighbours['pools'], admitted: string[]) => ({
    look: async () => ({ pools: stored, subnets: [] }),
    judge: async ({ pools }: Neighbours) => (pools.some(({ name }) => name === 'a') ? REFUSED : null),
    admit: () => void admitted.push('b'),
  });

  test('is refused once what was reserved is stored, not before', async () => {
    const stored: ReturnType<typeof pool>[] = [];
    const pauses: number[] = [];
    const reservations = new Reservations(
      () => 0,
      async (ms) => {
        pauses.push(ms);
        if (pauses.length === 2) stored.push(pool('a', '10.0.0.1'));
      },
    );
    reservations.pools.hold(pool('a', '10.0.0.1'), NEW);
    const admitted: string[] = [];
    expect(await reservations.decide(judgement(stored, admitted))).toEqual(REFUSED);
    expect([pauses.length, admitted]).toEqual([2, []]);
  });

  test('is admitted once the reservation has ended without a stored object', async () => {
    let nowMs = 0;
    const reservations = new Reservations(
      () => nowMs,
      async (ms) => {
        nowMs += ms;
      },
    );
    reservations.pools.hold(pool('a', '10.0.0.1'), NEW);
    const admitted: string[] = [];
    expect(await reservations.decide(judgement([], admitted))).toEqual({ allowed: true });
    expect(nowMs).toBeGreaterThanOrEqual(2_000);
    expect(admitted).toEqual(['b']);
  });

  test('is admitted before the API server gives up, however often somebody else reserves', async () => {
    let nowMs = 0;
    const reservations = new Reservations(
      () => nowMs,
      async (ms) => {
        nowMs += ms;
        reservations.pools.hold({ ...pool('a', '10.0.0.1'), uid: `uid-${nowMs}` }, NEW);
      },
    );
    reservations.pools.hold(pool('a', '10.0.0.1'), NEW);
    expect(await reservations.decide(judgement([], []))).toEqual({ allowed: true });
    expect(nowMs).toBeLessThan(8_000);
  });

  test('lets others pass while it waits', async () => {
    const waiting = Promise.withResolvers<void>();
    const reservations = new Reservations(
      () => 0,
      () => waiting.promise,
    );
    reservations.pools.hold(pool('a', '10.0.0.1'), NEW);
    const first = reservations.decide(judgement([], []));
    const free = { look: async () => ({ pools: [], subnets: [] }), judge: async () => null, admit: () => {} };
    expect(await reservations.decide(free)).toEqual({ allowed: true });
    waiting.resolve();
    await first;
  });
});

test('one check at a time, also after one that failed', async () => {
  const reservations = new Reservations(
    () => 0,
    async () => {},
  );
  const seen: string[] = [];
  const slow = reservations.alone(async () => {
    seen.push('slow begins');
    await new Promise((resolve) => setTimeout(resolve, 20));
    seen.push('slow ends');
    throw new Error('no');
  });
  const quick = reservations.alone(async () => void seen.push('quick'));
  await expect(slow).rejects.toThrow('no');
  await quick;
  expect(seen).toEqual(['slow begins', 'slow ends', 'quick']);
});
