import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { EndedPods } from './ended-pods.ts';

const log = pino({ level: 'silent' });

test('an ended pod is looked at at once, and again until nothing of it is left', async () => {
  const looks: string[] = [];
  const collectOf = async (uid: string) => {
    looks.push(uid);
    return looks.length < 3;
  };
  await using ended = new EndedPods({ collectOf }, log);
  ended.follow('u1');
  ended.follow('u1');
  await vi.waitUntil(() => looks.length === 3, { timeout: 20_000, interval: 5 });
  expect(looks).toEqual(['u1', 'u1', 'u1']);
  ended.follow('u1');
  await vi.waitUntil(() => looks.length === 4, { timeout: 20_000, interval: 5 });
});

test('stopping waits for the look under way and makes no other', async () => {
  const look = Promise.withResolvers<boolean>();
  let looks = 0;
  const collectOf = () => {
    looks += 1;
    return look.promise;
  };
  const ended = new EndedPods({ collectOf }, log);
  ended.follow('u1');
  await vi.waitUntil(() => looks === 1, { timeout: 20_000, interval: 5 });
  const stopped = ended[Symbol.asyncDispose]();
  look.resolve(true);
  await stopped;
  ended.follow('u2');
  expect(looks).toBe(1);
});
