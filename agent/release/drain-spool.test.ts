import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { addressesOf, allRecords, spoolDel } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { drainSpool } from './drain-spool.ts';

const POOL = buildPool({ name: 'v4', subnet: '10.0.0.0/24', isDefault: true });
const silent = pino({ level: 'silent' });

/** A spool of DELs that each take 4 s, by the clock of the drain; those of `cursed` fail then. */
async function startSlow(containers: readonly string[], cursed: readonly string[] = []) {
  const below = createMemoryLedger();
  const clock = turnedClock();
  const tried: string[] = [];
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      const { containerID = '' } = seen.spec.holder;
      tried.push(containerID);
      clock.turn(4_000);
      if (cursed.includes(containerID)) throw new IpamError('io-failure', 'no space left');
      return await below.release(seen);
    },
  });
  const made = await startMemoryAgent([POOL], { ledger });
  for (const containerID of containers) {
    await addressesOf(made, containerID);
    await spoolDel(made, containerID);
  }
  const failed = new Set<string>();
  const drain = () => drainSpool(made.spool, made.releaser, silent, { failed, nowMs: clock.nowMs });
  return { made, tried, drain, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
}

const containers = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);

test('a round of slow DELs ends early, and the rounds after it do the rest', async () => {
  await using slow = await startSlow(containers(30));
  const { made, tried, drain } = slow;
  await drain();
  const left = (await made.spool.names()).length;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(30);
  for (let round = 0; round < 30; round += 1) await drain();
  expect(await made.spool.names()).toEqual([]);
  expect(await allRecords(made.ledger)).toEqual([]);
  expect(tried.toSorted()).toEqual(containers(30).toSorted());
});

test('what fails is tried behind what had no turn yet', async () => {
  const all = containers(40);
  const cursed = all.slice(0, 20);
  await using slow = await startSlow(all, cursed);
  const { made, tried, drain } = slow;
  for (let round = 0; round < 40; round += 1) await drain();
  expect((await allRecords(made.ledger)).map(({ spec }) => spec.holder.containerID).toSorted()).toEqual(
    cursed.toSorted(),
  );
  const tries = cursed.map((containerID) => tried.filter((it) => it === containerID).length);
  expect(Math.min(...tries)).toBeGreaterThan(1);
  expect(Math.max(...tries) - Math.min(...tries)).toBeLessThanOrEqual(1);
});

test('a few DELs are applied at the same time, and not all', async () => {
  const below = createMemoryLedger();
  const atOnce = { now: 0, most: 0 };
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      atOnce.now += 1;
      atOnce.most = Math.max(atOnce.most, atOnce.now);
      await sleep(20);
      atOnce.now -= 1;
      return await below.release(seen);
    },
  });
  await using made = await startMemoryAgent([POOL], { ledger });
  for (const containerID of containers(40)) {
    await addressesOf(made, containerID);
    await spoolDel(made, containerID);
  }
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(below)).toEqual([]);
  expect(atOnce.most).toBeGreaterThan(1);
  expect(atOnce.most).toBeLessThan(20);
});
