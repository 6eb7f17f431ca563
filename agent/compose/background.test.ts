import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { delArgs } from '#test/support/memory-agent.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { startBackground } from './background.ts';

const POOL = buildPool({ name: 'v4', subnet: '10.0.0.0/24', isDefault: true });
const COUNT = 24;

function portsOf(made: MemoryClusterAgent) {
  const { refresh, confirm, spool } = made;
  const kept = { refresh, confirm };
  return { composed: made, watches: { open: async () => {} }, kept, spool, log: pino({ level: 'silent' }) };
}

test('an agent is ready before a long spool is drained; the rest is drained later, and rule 8 holds for it', async () => {
  const below = createMemoryLedger();
  const clock = turnedClock();
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      clock.turn(4_000);
      return await below.release(seen);
    },
  });
  await using before = await startMemoryClusterAgent([POOL], { ledger });
  const { spool, pods } = before;
  const names = Array.from({ length: COUNT }, (_, n) => `p${n}`);
  for (const name of names) {
    const pod = pods.put(name);
    await before.add(pod, name);
    pods.end(pod);
    await spool.keep(delArgs(name));
  }
  await using made = await startMemoryClusterAgent([POOL], { ledger, pods, spool, isReady: false });
  await using _background = startBackground({ ...portsOf(made), nowMs: clock.nowMs });
  await vi.waitUntil(() => made.agent.readiness.isReady, { timeout: 30_000, interval: 1 });
  const waiting = await spool.names();
  expect(waiting.length).toBeGreaterThan(0);
  expect(waiting.length).toBeLessThan(COUNT);
  const [name = ''] = waiting.at(-1)?.split('@') ?? [];
  const answered = await made.add(pods.put(name), name);
  await vi.waitUntil(() => spool.count() === 0, { timeout: 30_000, interval: 20 });
  const left = (await below.list({ limit: 100 })).map(({ spec }) => [spec.holder.containerID, spec.address]);
  expect(left).toEqual([[name, ...answered]]);
});

test('the rounds of spool and journal do not wait for each other', async () => {
  const below = createMemoryLedger();
  const answer = Promise.withResolvers<void>();
  const asked: string[] = [];
  let isAway = false;
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      if (isAway) throw new IpamError('api-server-unavailable', 'away');
      asked.push(seen.spec.holder.name);
      await answer.promise;
      return await below.release(seen);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const [owed, spooled] = [made.pods.put('owed'), made.pods.put('spooled')];
  for (const pod of [owed, spooled]) {
    await made.add(pod, pod.name);
    made.pods.end(pod);
  }
  isAway = true;
  await made.del(owed, 'owed');
  isAway = false;
  await made.spool.keep(delArgs('spooled'));
  await using _background = startBackground(portsOf(made));
  await vi.waitUntil(() => asked.length === 2, { timeout: 30_000, interval: 5 }).finally(answer.resolve);
  await vi.waitUntil(() => made.journal.size + made.spool.count() === 0, { timeout: 30_000, interval: 5 });
  expect(await made.records()).toEqual([]);
});

test('the records are listed when the agent starts, and later read by name', async () => {
  const calls: string[] = [];
  const kept = {
    refresh: async () => void calls.push('list'),
    confirm: async () => void calls.push('by name'),
  };
  await using made = await startMemoryClusterAgent([POOL], { isReady: false });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await using _background = startBackground({ ...portsOf(made), kept });
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await vi.waitUntil(() => made.agent.readiness.isReady, 20_000);
  expect(calls).toEqual(['list']);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await using _later = startBackground({ ...portsOf(made), kept });
  vi.advanceTimersByTime(11 * 60_000);
  expect(calls).toEqual(['list', 'by name']);
  vi.useRealTimers();
});
