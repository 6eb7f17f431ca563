import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Ticker } from './ticker.ts';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('checks at once, and starts no timer when the first check succeeds', async () => {
  const before = timers();
  const seen = new Ticker(1).until(() => 'there');
  expect(timers()).toBe(before);
  expect(await seen).toBe('there');
});

test('one timer serves all waits, and stops with the last of them', async () => {
  const before = timers();
  const ticker = new Ticker(1);
  const waits = [3, 6, 9].map((times) => {
    let looks = 0;
    return ticker.until(() => {
      looks += 1;
      return looks > times ? looks : null;
    });
  });
  expect(timers()).toBe(before + 1);
  expect(await Promise.all(waits)).toEqual([4, 7, 10]);
  expect(timers()).toBe(before);
});

test('a check that throws rejects its own wait and no other', async () => {
  const ticker = new Ticker(1);
  let isHere = false;
  const patient = ticker.until(() => (isHere ? 'here' : null));
  let looks = 0;
  const failing = ticker.until(() => {
    looks += 1;
    if (looks === 3) throw new Error('no');
    return null;
  });
  await expect(failing).rejects.toThrow('no');
  await sleep(5);
  expect(looks).toBe(3);
  isHere = true;
  expect(await patient).toBe('here');
});
