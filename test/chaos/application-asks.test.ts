import { expect, test } from 'vitest';
import { askForAddresses, changeAsk, isAsking, isFaulty, repairAsk, subnetOf } from './application-asks.ts';
import { Random } from './fuzz-random.ts';

const random = new Random(17);

test('users ask for each of the subnets, and some for a pool that stays', () => {
  const asks = Array.from({ length: 40 }, () => askForAddresses(random, { keepsPool: false }));
  expect(new Set(asks.map(subnetOf))).toEqual(new Set(['applications', 'more-applications']));
  expect(asks.some(isFaulty)).toBe(false);
  expect(askForAddresses(random, { keepsPool: true })).toMatchObject({ 'ipam.spidernet.io/ippool-reclaim': 'false' });
});

test('users move, resize, break and repair what they ask for, and a broken one can be repaired', () => {
  const done = new Set<string>();
  let ask = askForAddresses(random, { keepsPool: true });
  for (let times = 0; times < 200; times += 1) {
    const { what, ask: next } = changeAsk(ask, random);
    done.add(what);
    if (what === 'move') expect(subnetOf(next)).not.toBe(subnetOf(ask));
    if (what === 'break') expect([isFaulty(ask), isFaulty(next)]).toEqual([false, true]);
    if (what === 'repair') expect([isFaulty(ask), isFaulty(next)]).toEqual([true, false]);
    expect(isAsking(next)).toBe(true);
    expect(isFaulty(repairAsk(next))).toBe(false);
    if (!isFaulty(next)) expect(repairAsk(next)).toEqual(next);
    ask = next;
  }
  expect(done).toEqual(new Set(['move', 'resize', 'break', 'repair']));
});

test('who asks for nothing has no typo', () => {
  expect(isFaulty({})).toBe(false);
});
