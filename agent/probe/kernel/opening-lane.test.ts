import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OpeningLane } from './opening-lane.ts';
import { Ticker } from './ticker.ts';

test('one opening per turn of the event loop, in the order of the calls', async () => {
  const lane = new OpeningLane(() => true, new Ticker(1));
  const opened: number[] = [];
  const perTurn: number[] = [];
  const turns = [1, 2, 3].map((at) => lane.turn().then(() => opened.push(at)));
  while (opened.length < 3) {
    const before = opened.length;
    await new Promise(setImmediate);
    perTurn.push(opened.length - before);
  }
  await Promise.all(turns);
  expect(opened).toEqual([1, 2, 3]);
  expect(Math.max(...perTurn)).toBe(1);
});

test('no socket is opened while the limit is reached', async () => {
  let room = 1;
  const lane = new OpeningLane(() => room > 0, new Ticker(1));
  const opened: number[] = [];
  const open = async (at: number) => {
    await lane.turn();
    room -= 1;
    opened.push(at);
  };
  const all = Promise.all([1, 2, 3].map(open));
  await sleep(20);
  expect(opened).toEqual([1]);
  room = 1;
  await sleep(20);
  expect(opened).toEqual([1, 2]);
  room = 1;
  await all;
  expect(opened).toEqual([1, 2, 3]);
});
