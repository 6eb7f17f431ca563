import { expect, test } from 'vitest';
import { NO_SLOT } from '#test/support/no-slot.ts';
import { CreateLimiter, type Permit } from './create-limiter.ts';

const FOREVER_MS = 60_000;
const open = new AbortController().signal;

async function enter(pace: CreateLimiter): Promise<Permit> {
  const turn = await pace.enter(FOREVER_MS, open, NO_SLOT);
  if (turn === null) throw new Error('there was no turn');
  return turn;
}

/** How many of so many get a turn before anybody ends one. */
async function countAdmitted(pace: CreateLimiter, asking: number): Promise<{ admitted: Permit[] }> {
  const admitted: Permit[] = [];
  for (let at = 0; at < asking; at += 1) void enter(pace).then((turn) => admitted.push(turn));
  await new Promise((resolve) => setImmediate(resolve));
  return { admitted };
}

/** Four under way, as many as go ahead after the loss of one of them. */
async function lose(pace: CreateLimiter): Promise<Permit> {
  const [loser] = await Promise.all(Array.from({ length: 4 }, () => enter(pace)));
  if (loser === undefined) throw new Error('there was no turn');
  loser.lost();
  return loser;
}

test('nobody waits as long as no create was lost', async () => {
  const { admitted } = await countAdmitted(new CreateLimiter(), 64);
  expect(admitted).toHaveLength(64);
});

test('after a lost create four go ahead, and with each one won one more', async () => {
  const pace = new CreateLimiter();
  const loser = await enter(pace);
  loser.lost();
  loser[Symbol.dispose]();
  const { admitted } = await countAdmitted(pace, 10);
  const widths: number[] = [];
  for (let at = 0; at < 3; at += 1) {
    widths.push(admitted.length - at);
    admitted[at]?.won();
    admitted[at]?.[Symbol.dispose]();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(widths).toEqual([4, 5, 6]);
});

test('a turn that ends without an outcome, as by an error, lets the next one go', async () => {
  const pace = new CreateLimiter();
  const loser = await lose(pace);
  const { admitted } = await countAdmitted(pace, 1);
  expect(admitted).toHaveLength(0);
  loser[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  expect(admitted).toHaveLength(1);
});

test('who waits longer than its time gets none, and takes none from others', async () => {
  const pace = new CreateLimiter();
  const loser = await lose(pace);
  expect(await pace.enter(5, open, NO_SLOT)).toBeNull();
  const { admitted } = await countAdmitted(pace, 1);
  loser[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  expect(admitted).toHaveLength(1);
});

test('a caller that goes away while it waits gets none, and the one behind it is not forgotten', async () => {
  const pace = new CreateLimiter();
  const loser = await lose(pace);
  const gone = new AbortController();
  const first = pace.enter(FOREVER_MS, gone.signal, NO_SLOT);
  const { admitted } = await countAdmitted(pace, 1);
  gone.abort();
  expect(await first).toBeNull();
  loser[Symbol.dispose]();
  await new Promise((resolve) => setImmediate(resolve));
  expect(admitted).toHaveLength(1);
});
