import { pino } from 'pino';
import { expect, test } from 'vitest';
import { NO_EVENTS } from '#pkg/kube/events/events.ts';
import { buildClaimRecord } from '#test/support/build-claim.ts';
import { RestoreHold } from './restore-hold.ts';
import { Unserved } from './unserved.ts';
import { Vanished } from './vanished.ts';

const claim = (name: string, second: number) => ({
  pool: 'lab',
  namespace: 'prod',
  name,
  createdAt: `2026-11-18T16:00:0${second}Z`,
});

test('the line is served by age, then by name, and only those in line are counted', () => {
  const unserved = new Unserved();
  unserved.add(claim('b', 2), true);
  unserved.add(claim('c', 1), true);
  unserved.add(claim('a', 2), true);
  unserved.add(claim('not-in-line', 0), false);
  unserved.add({ ...claim('elsewhere', 0), pool: 'other' }, true);
  expect(unserved.first('lab', 2n)).toEqual(['prod/c', 'prod/a']);
  expect(unserved.first('lab', 1n << 100n)).toEqual(['prod/c', 'prod/a', 'prod/b']);
  expect(unserved.countBefore(claim('b', 2))).toBe(2);
  expect(unserved.countBefore(claim('new', 9))).toBe(3);
  expect(unserved.countWith(claim('b', 2))).toBe(3);
  expect(unserved.countWith(claim('new', 9))).toBe(4);
  expect(unserved.remove('prod/c')).toBe('lab');
  expect(unserved.remove('prod/not-in-line')).toBeNull();
  expect(unserved.first('lab', 5n)).toEqual(['prod/a', 'prod/b']);
});

test('a claim that was made anew for another pool is in one line only', () => {
  const unserved = new Unserved();
  unserved.add(claim('a', 1), true);
  unserved.add({ ...claim('a', 2), pool: 'other' }, true);
  expect(unserved.first('lab', 9n)).toEqual([]);
  expect(unserved.first('other', 9n)).toEqual(['prod/a']);
});

test('after a restore of etcd nothing new is given out for a while', () => {
  let nowMs = 0;
  const restore = new RestoreHold(
    () => nowMs,
    () => 0,
  );
  expect(restore.find()).toBeNull();
  restore.begin();
  nowMs = 60_000;
  expect(restore.find()).toMatchObject({ leftMs: 30_000 });
  nowMs = 90_000;
  expect(restore.find()).toBeNull();
});

test('nothing new is given out at the beginning of a term either: the one before may have ended with a restore', () => {
  let missingForMs = 60_000;
  const restore = new RestoreHold(
    () => 0,
    () => missingForMs,
  );
  expect(restore.find()).toMatchObject({ leftMs: 60_000 });
  missingForMs = 0;
  expect(restore.find()).toBeNull();
});

test('a claim that is gone with its record is reported once, after the watches had time to agree', () => {
  const lines: string[] = [];
  let nowMs = 0;
  const log = pino({}, { write: (line) => void lines.push(line) });
  const vanished = new Vanished({
    kind: 'IPAddressClaim',
    reason: 'ClaimVanished',
    advice: () => 'release it',
    events: NO_EVENTS,
    log,
    nowMs: () => nowMs,
  });
  const look = () => vanished.look('prod/vm-0', [buildClaimRecord()]);
  expect(look()).toBe(10_000);
  nowMs = 10_000;
  expect([look(), look()]).toEqual([undefined, undefined]);
  expect(lines).toHaveLength(1);
  expect(vanished.look('prod/vm-1', [])).toBeUndefined();
});
