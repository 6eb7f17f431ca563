import { expect, test } from 'vitest';
import { newCall } from '#test/support/memory-agent.ts';
import { Readiness } from './agent.ts';

test('until it is ready STATUS says not-ready and calls say agent-unavailable, both with what is missing', () => {
  const readiness = new Readiness();
  readiness.waitFor('the pools have not been read yet');
  const message = 'the agent is not ready: the pools have not been read yet';
  expect(() => readiness.throwIfNotReady()).toThrow(expect.objectContaining({ reason: 'not-ready', message }));
  expect(() => readiness.throwIfNotYet()).toThrow(expect.objectContaining({ reason: 'agent-unavailable', message }));
  readiness.become();
  readiness.throwIfNotReady();
  readiness.throwIfNotYet();
  expect(readiness.waitsFor).toBeNull();
});

test('once ready it stays so', () => {
  const readiness = new Readiness();
  readiness.become();
  readiness.waitFor('something else');
  readiness.stop();
  expect(readiness.isReady).toBe(true);
});

test('a call waits until it becomes ready', async () => {
  const readiness = new Readiness();
  const waiting = readiness.wait(newCall(60_000));
  readiness.become();
  await waiting;
});

test('a call waits no longer than it can and still answer', async () => {
  const readiness = new Readiness();
  readiness.waitFor('it is a test');
  const begun = performance.now();
  await expect(readiness.wait(newCall(400))).rejects.toMatchObject({ reason: 'agent-unavailable' });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(190);
});

test.each([
  { name: 'goes away', abort: (caller: AbortController) => setTimeout(() => caller.abort(), 20) },
  { name: 'had gone away before', abort: (caller: AbortController) => caller.abort() },
])('a caller that $name is not waited for', { timeout: 10_000 }, async ({ abort }) => {
  const caller = new AbortController();
  abort(caller);
  await expect(new Readiness().wait(newCall(60_000, caller.signal))).rejects.toMatchObject({
    reason: 'agent-unavailable',
  });
});

test('an agent that is stopped before it was ready lets its callers go', async () => {
  const readiness = new Readiness();
  const waiting = readiness.wait(newCall(60_000));
  readiness.stop();
  await expect(waiting).rejects.toThrow('it is being stopped');
});
