import { expect, test } from 'vitest';
import { HeldAddresses } from './held-addresses.ts';
import { StatusPace } from './status-pace.ts';

test('whoever waits for a record is found by it, until it waits for another or for none', () => {
  const held = new HeldAddresses();
  held.add('a/vm-0', '10.0.2.50');
  held.add('a/vm-1', '10.0.2.50');
  held.add('a/vm-1', '10.0.2.51');
  expect(held.waitingFor('10.0.2.50')).toEqual(['a/vm-0']);
  expect(held.waitingFor('10.0.2.51')).toEqual(['a/vm-1']);
  held.forget('a/vm-0');
  expect(held.waitingFor('10.0.2.50')).toEqual([]);
});

test('ten writes of a status go through at once, and then one in 10 s', () => {
  let nowMs = 0;
  const pace = new StatusPace(() => nowMs);
  for (let write = 0; write < 10; write += 1) {
    expect(pace.waitMs('a')).toBe(0);
    pace.wrote('a');
  }
  expect(pace.waitMs('a')).toBe(10_000);
  expect(pace.waitMs('b')).toBe(0);
  nowMs = 4_000;
  expect(pace.waitMs('a')).toBe(6_000);
  nowMs = 10_000;
  expect(pace.waitMs('a')).toBe(0);
  pace.wrote('a');
  expect(pace.waitMs('a')).toBe(10_000);
  pace.forget('a');
  expect(pace.waitMs('a')).toBe(0);
});
