import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Gate } from './gate.ts';

function hold(gate: Gate): { release: () => void; done: Promise<void>; started: () => boolean } {
  const held = Promise.withResolvers<void>();
  let started = false;
  const done = gate.admit(() =>
    gate.work(async () => {
      started = true;
      await held.promise;
    }),
  );
  return { release: held.resolve, done, started: () => started };
}

test('no more than the limit work, the next one starts when one leaves', async () => {
  const gate = new Gate({ working: 2, queued: 5 });
  const calls = [hold(gate), hold(gate), hold(gate)] as const;
  await sleep(0);
  expect(calls.map((call) => call.started())).toEqual([true, true, false]);
  calls[0].release();
  await sleep(0);
  expect(calls[2].started()).toBe(true);
  for (const call of calls) call.release();
  await Promise.all(calls.map((call) => call.done));
});

test('beyond the queue a call is refused at once, and room comes back', async () => {
  const gate = new Gate({ working: 1, queued: 1 });
  const calls = [hold(gate), hold(gate)];
  await expect(gate.admit(async () => 1)).rejects.toMatchObject({ reason: 'agent-busy' });
  for (const call of calls) call.release();
  await Promise.all(calls.map((call) => call.done));
  await expect(gate.admit(async () => 1)).resolves.toBe(1);
});

test('the parts of a call share its slot: it is lent while all of them rest or have ended', async () => {
  const gate = new Gate({ working: 1, queued: 5 });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const seen: string[] = [];
  const call = gate.work(async (slot) => {
    const outcomes = await slot.share([
      async (part) => await part.rest(() => first.promise),
      async (part) => {
        await second.promise;
        await part.rest(async () => {});
        throw new Error('ended');
      },
    ]);
    seen.push(...outcomes.map(({ status }) => status));
  });
  const other = hold(gate);
  await sleep(0);
  expect(other.started()).toBe(false); // one part still works
  second.resolve();
  await sleep(0);
  expect(other.started()).toBe(true);
  first.resolve();
  await sleep(0);
  expect(seen).toEqual([]);
  other.release();
  await Promise.all([call, other.done]);
  expect(seen).toEqual(['fulfilled', 'rejected']);
  await expect(gate.work(async () => 1)).resolves.toBe(1);
  const next = [hold(gate), hold(gate)] as const;
  await sleep(0);
  expect(next.map((it) => it.started())).toEqual([true, false]); // still one slot
  for (const it of next) it.release();
  await Promise.all(next.map((it) => it.done));
});

test('a resting call lends its slot and takes one again before it goes on', async () => {
  const gate = new Gate({ working: 1, queued: 5 });
  const woken = Promise.withResolvers<void>();
  const seen: string[] = [];
  const resting = gate.work(async (slot) => {
    await slot.rest(() => woken.promise);
    seen.push('rested');
  });
  const other = hold(gate);
  await sleep(0);
  expect(other.started()).toBe(true);
  woken.resolve();
  await sleep(0);
  expect(seen).toEqual([]);
  other.release();
  await Promise.all([resting, other.done]);
  expect(seen).toEqual(['rested']);
});
