import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { Reservations } from './reservations.ts';

const pool = (name: string, ...ips: string[]) => buildPool({ name, ips });
const NEW = { isChange: false };
const CHANGE = { isChange: true };
const namesIn = (pools: readonly { readonly name: string }[]) => pools.map(({ name }) => name);

test('what was admitted counts until it is stored', () => {
  const reservations = new Reservations(() => 0);
  reservations.hold(pool('a', '10.0.0.1'), NEW);
  expect(namesIn(reservations.beyond([]))).toEqual(['a']);
  expect(namesIn(reservations.beyond([pool('a', '10.0.0.1-10.0.0.2')]))).toEqual([]);
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('a change counts until the change is stored', () => {
  const reservations = new Reservations(() => 0);
  reservations.hold(pool('a', '10.0.0.1-10.0.0.9'), CHANGE);
  expect(namesIn(reservations.beyond([pool('a', '10.0.0.1')]))).toEqual(['a']);
});

test('a change that can never be stored does not count: the pool is gone, or another one of its name is there', () => {
  const wide = { ...pool('a', '10.0.0.1-10.0.0.9'), uid: 'old' };
  const reservations = new Reservations(() => 0);
  reservations.hold(wide, CHANGE);
  expect(namesIn(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'old' }]))).toEqual(['a']);
  expect(namesIn(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'new' }]))).toEqual([]);
  reservations.hold(wide, CHANGE);
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('a late change of an older pool does not take the place of a new one', () => {
  const reservations = new Reservations(() => 0);
  reservations.hold({ ...pool('a', '10.0.0.1-10.0.0.9'), uid: 'new' }, NEW);
  reservations.hold({ ...pool('a', '10.0.0.1'), uid: 'old' }, CHANGE);
  expect(reservations.beyond([]).map(({ uid }) => uid)).toEqual(['new']);
  reservations.hold({ ...pool('a', '10.0.0.1-10.0.0.4'), uid: 'new' }, CHANGE);
  expect(reservations.beyond([{ ...pool('a', '10.0.0.1'), uid: 'new' }])).toHaveLength(1);
});

test('what was never stored is forgotten after a while, or with its deletion', () => {
  let nowMs = 0;
  const reservations = new Reservations(() => nowMs);
  reservations.hold(pool('a', '10.0.0.1'), NEW);
  reservations.hold(pool('b', '10.0.0.2'), NEW);
  reservations.drop('b');
  expect(namesIn(reservations.beyond([]))).toEqual(['a']);
  nowMs = 10_000;
  expect(namesIn(reservations.beyond([]))).toEqual([]);
});

test('one check at a time, also after one that failed', async () => {
  const reservations = new Reservations(() => 0);
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
