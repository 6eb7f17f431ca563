import { expect, test } from 'vitest';
import type { Call } from '#agent/calls/call.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import type { Answering } from './address-probe.ts';
import { SuspectProbe } from './suspect-probe.ts';

const POOL = buildPool({ name: 'v4' });
const { spec: SPEC } = buildRecord();
const WINDOW_MS = 100;
const CALLER = new AbortController();

/** A call that may write until `writesUntilMs`; each round takes its window, and each pause its time. */
function stage(answers: readonly Answering[], writesUntilMs = 10_000) {
  const rounds: number[] = [];
  let nowMs = 0;
  const probe = new SuspectProbe({
    probe: {
      whoAnswers: async () => {
        rounds.push(nowMs);
        nowMs += WINDOW_MS;
        return answers[rounds.length - 1] ?? 'silence';
      },
    },
    windowMs: WINDOW_MS,
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
  });
  const deadlineMs = writesUntilMs + 5_000;
  const call: Call = { begunAtMs: -30_000, arrivedAtMs: -30_000, deadlineMs, signal: CALLER.signal };
  return { rounds, ask: () => probe.whoAnswers(SPEC, POOL, call) };
}

test.each<{ name: string; answers: readonly Answering[]; rounds: number[]; said: Answering }>([
  { name: 'silence counts after three rounds', answers: [], rounds: [0, 1_100, 2_200], said: 'silence' },
  { name: 'an answer in the first round ends it', answers: ['answer'], rounds: [0], said: 'answer' },
  {
    name: 'so does one in the last',
    answers: ['silence', 'silence', 'answer'],
    rounds: [0, 1_100, 2_200],
    said: 'answer',
  },
  {
    name: 'a round that could not be made is no silence',
    answers: ['silence', 'unknown'],
    rounds: [0, 1_100],
    said: 'unknown',
  },
])('$name', async ({ answers, rounds, said }) => {
  const asked = stage(answers);
  expect(await asked.ask()).toBe(said);
  expect(asked.rounds).toEqual(rounds);
});

test.each([
  { name: 'time for all rounds', writesUntilMs: 2_300, rounds: 3, said: 'silence' },
  { name: 'a moment too little: no round is begun', writesUntilMs: 2_299, rounds: 0, said: 'unknown' },
])('the deadline of the call counts: $name', async ({ writesUntilMs, rounds, said }) => {
  const asked = stage([], writesUntilMs);
  expect(await asked.ask()).toBe(said);
  expect(asked.rounds).toHaveLength(rounds);
});

test('rounds that take longer than their window end before the deadline too', async () => {
  let nowMs = 0;
  let rounds = 0;
  const probe = new SuspectProbe({
    probe: {
      whoAnswers: async () => {
        rounds += 1;
        nowMs += 1_500;
        return 'silence';
      },
    },
    windowMs: WINDOW_MS,
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
  });
  const call: Call = { begunAtMs: -30_000, arrivedAtMs: -30_000, deadlineMs: 9_000, signal: CALLER.signal };
  expect(await probe.whoAnswers(SPEC, POOL, call)).toBe('unknown');
  expect(rounds).toBe(2);
});

test('a caller that went away during a pause is not asked for any more', async () => {
  const gone = new AbortController();
  const probe = new SuspectProbe({
    probe: { whoAnswers: async () => 'silence' },
    windowMs: WINDOW_MS,
    nowMs: () => 0,
    pause: async () => gone.abort(),
  });
  const call: Call = { begunAtMs: 0, arrivedAtMs: 0, deadlineMs: 30_000, signal: gone.signal };
  await expect(probe.whoAnswers(SPEC, POOL, call)).rejects.toMatchObject({ reason: 'caller-gone' });
});
