import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

const LONG_MS = 60_000;

test('what is beyond the slots waits in line, and goes on in the order in which it came', async () => {
  const slots = new Slots(1, 2);
  expect(await slots.take()).toBe(true);
  const order: string[] = [];
  const waiting = ['first', 'second'].map((name) => slots.take().then(() => order.push(name)));
  await turn();
  expect(order).toEqual([]);
  slots.giveBack();
  await turn();
  expect(order).toEqual(['first']);
  slots.giveBack();
  await Promise.all(waiting);
  expect(order).toEqual(['first', 'second']);
});

test('what is beyond the line is refused at once, and a slot that came back can be taken', async () => {
  const slots = new Slots(1, 1);
  expect(slots.tryTake()).toBe(true);
  expect(slots.tryTake()).toBe(false);
  const waiting = slots.take();
  expect(await slots.take()).toBe(false);
  slots.giveBack();
  expect(await waiting).toBe(true);
  slots.giveBack();
  expect(slots.tryTake()).toBe(true);
});

test('one that gives up gets no slot, and the one behind it is not forgotten', async () => {
  const slots = new Slots(1, 5);
  await slots.take();
  const gone = new AbortController();
  const [first, second] = [slots.take(gone.signal), slots.take()];
  gone.abort();
  expect(await first).toBe(false);
  slots.giveBack();
  expect(await second).toBe(true);
  expect(await slots.take(AbortSignal.abort())).toBe(false);
});

test('a signal that fires after the slot was given takes nothing away', async () => {
  const slots = new Slots(1, 5);
  await slots.take();
  const late = new AbortController();
  const next = slots.take(late.signal);
  slots.giveBack();
  late.abort();
  expect(await next).toBe(true);
  expect(slots.tryTake()).toBe(false);
});

test('a free slot is taken at once', async () => {
  expect(await new Slots(1, 1).takeWithin(0)).toBe(true);
});

test('a slot that comes back in time is taken', async () => {
  const slots = new Slots(1, 1);
  slots.tryTake();
  const waiting = slots.takeWithin(LONG_MS);
  slots.giveBack();
  expect(await waiting).toBe(true);
});

test('who waited too long leaves the line', async () => {
  const slots = new Slots(1, 2);
  slots.tryTake();
  const patient = slots.takeWithin(LONG_MS);
  expect(await slots.takeWithin(1)).toBe(false);
  slots.giveBack();
  expect(await patient).toBe(true);
});

test('who has gone leaves the line to the next one', async () => {
  const slots = new Slots(1, 3);
  slots.tryTake();
  const caller = new AbortController();
  const gone = slots.takeWithin(LONG_MS, caller.signal);
  const goneBefore = slots.takeWithin(LONG_MS, AbortSignal.abort());
  const patient = slots.takeWithin(LONG_MS, new AbortController().signal);
  caller.abort();
  slots.giveBack();
  expect(await gone).toBe(false);
  expect(await goneBefore).toBe(false);
  expect(await patient).toBe(true);
});
