import { expect, test } from 'vitest';
import { RepairPace } from './repair-pace.ts';

const stage = () => {
  let nowMs = 0;
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { pace: new RepairPace(1_000, () => nowMs), wait: (ms: number) => advance(ms), now: () => nowMs };
};

test('what is wanted first is written at once, and what is wanted anew after the shortest pause', () => {
  const { pace, wait } = stage();
  expect(pace.dueInMs('nn', { used: 1 }, {})).toBe(0);
  pace.wrote('nn', { used: 1 }, { used: 1 });
  wait(400);
  expect(pace.dueInMs('nn', { used: 2 }, { used: 1 })).toBe(600);
  wait(600);
  expect(pace.dueInMs('nn', { used: 2 }, { used: 1 })).toBe(0);
});

test('what the API server left out is not written again', () => {
  const { pace, wait } = stage();
  pace.wrote('nn', { used: 1, extra: true }, { used: 1 });
  wait(60_000);
  expect(pace.dueInMs('nn', { used: 1, extra: true }, { used: 1 })).toBeNull();
});

test('against a writer who wipes it every second, an hour costs few writes; when he stops, it is there within 30 s', () => {
  const { pace, wait, now } = stage();
  let writes = 0;
  pace.wrote('nn', { used: 1 }, { used: 1 });
  while (now() < 3_600_000) {
    if (pace.dueInMs('nn', { used: 1 }, {}) === 0) {
      writes += 1;
      pace.wrote('nn', { used: 1 }, { used: 1 });
    }
    wait(1_000);
  }
  expect(writes).toBeGreaterThan(100);
  expect(writes).toBeLessThan(130);
  expect(pace.dueInMs('nn', { used: 1 }, {})).toBeLessThanOrEqual(30_000);
});

test('one that was left alone for long is repaired quickly again', () => {
  const { pace, wait } = stage();
  pace.wrote('nn', { used: 1 }, { used: 1 });
  for (let round = 0; round < 6; round += 1) {
    wait(30_000);
    pace.wrote('nn', { used: 1 }, { used: 1 });
  }
  wait(61_000);
  pace.wrote('nn', { used: 1 }, { used: 1 });
  expect(pace.dueInMs('nn', { used: 1 }, {})).toBe(1_000);
});
