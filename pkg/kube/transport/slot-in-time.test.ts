import { expect, test } from 'vitest';
import { Slots } from '#pkg/concurrency/slots.ts';
import { takeInTime } from './slot-in-time.ts';

const LONG_MS = 60_000;

test('a free slot is taken at once', async () => {
  expect(await takeInTime(new Slots(1, 1), 0)).toBe(true);
});

test('a slot that comes back in time is taken', async () => {
  const slots = new Slots(1, 1);
  slots.tryTake();
  const waiting = takeInTime(slots, LONG_MS);
  slots.giveBack();
  expect(await waiting).toBe(true);
});

test('who waited too long leaves the line', async () => {
  const slots = new Slots(1, 2);
  slots.tryTake();
  const patient = takeInTime(slots, LONG_MS);
  expect(await takeInTime(slots, 1)).toBe(false);
  slots.giveBack();
  expect(await patient).toBe(true);
});

test('who has gone leaves the line to the next one', async () => {
  const slots = new Slots(1, 3);
  slots.tryTake();
  const caller = new AbortController();
  const gone = takeInTime(slots, LONG_MS, caller.signal);
  const goneBefore = takeInTime(slots, LONG_MS, AbortSignal.abort());
  const patient = takeInTime(slots, LONG_MS, new AbortController().signal);
  caller.abort();
  slots.giveBack();
  expect(await gone).toBe(false);
  expect(await goneBefore).toBe(false);
  expect(await patient).toBe(true);
});
