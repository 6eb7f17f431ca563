import { expect, test } from 'vitest';
import { HoldAllowance } from './hold-allowance.ts';

const MINUTE = 60_000;

test('a claim that is made again every nine minutes holds the pool for half an hour, and not again before an hour of rest', () => {
  const allowance = new HoldAllowance();
  const holds = (at: number) => {
    allowance.use('lab', 'prod', at * MINUTE, (at + 10) * MINUTE);
    return !allowance.isUsedUp('lab', 'prod');
  };
  expect([0, 9, 18, 20, 27, 36, 45].map(holds)).toEqual([true, true, true, true, false, false, false]);
  expect(holds(45 + 69)).toBe(false);
  expect(holds(45 + 69 + 71)).toBe(true);
});

test('claims that came together use the time of one, however often they are looked at', () => {
  const allowance = new HoldAllowance();
  for (let look = 0; look < 100; look += 1)
    for (const at of [0, 1, 2]) allowance.use('lab', 'prod', at * MINUTE, (at + 10) * MINUTE);
  expect(allowance.isUsedUp('lab', 'prod')).toBe(false);
});

test('an IPAddress that came makes the allowance whole; another namespace and another pool have their own', () => {
  const allowance = new HoldAllowance();
  for (const at of [0, 10, 20, 30]) allowance.use('lab', 'prod', at * MINUTE, (at + 10) * MINUTE);
  expect(allowance.isUsedUp('lab', 'prod')).toBe(true);
  expect(allowance.isUsedUp('lab', 'dev')).toBe(false);
  expect(allowance.isUsedUp('other', 'prod')).toBe(false);
  allowance.refill('lab', 'prod');
  expect(allowance.isUsedUp('lab', 'prod')).toBe(false);
});
