import { expect, test } from 'vitest';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { FreedWaiters } from './freed-waiters.ts';

const CATALOG = {
  current: () => {
    throw new Error('not asked');
  },
  onChange: () => ({ [Symbol.dispose]() {} }),
};
const VIEWS = { onFreed: () => ({ [Symbol.dispose]() {} }) };
const never = () => false;

test('a stop wakes everybody who waits, and nobody waits after it', async () => {
  const waiters = new FreedWaiters(createMemoryLedger(), CATALOG, VIEWS, 10);
  const waiting = waiters.wait(['p'], 60_000, new AbortController().signal, never);
  waiters.stop();
  expect(await waiting).toBe('stopping');
  expect(await waiters.wait(['p'], 60_000, new AbortController().signal, never)).toBe('stopping');
});

test('more than the limit do not wait', async () => {
  const waiters = new FreedWaiters(createMemoryLedger(), CATALOG, VIEWS, 1);
  const waiting = waiters.wait(['p'], 60_000, new AbortController().signal, never);
  expect(await waiters.wait(['p'], 60_000, new AbortController().signal, never)).toBe('too-many');
  waiters.stop();
  await waiting;
});

test('time is over', async () => {
  const waiters = new FreedWaiters(createMemoryLedger(), CATALOG, VIEWS, 1);
  expect(await waiters.wait(['p'], 1, new AbortController().signal, never)).toBe('timeout');
});

test('a caller that had gone away before does not wait', { timeout: 10_000 }, async () => {
  const waiters = new FreedWaiters(createMemoryLedger(), CATALOG, VIEWS, 1);
  expect(await waiters.wait(['p'], 60_000, AbortSignal.abort(), never)).toBe('woken');
});
