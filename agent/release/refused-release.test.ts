import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Journal } from '#agent/debts/journal.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { turnedClock } from '#test/support/turned-clock.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const FORBIDDEN = new IpamError('bad-config', 'cannot release the record: this account is not allowed to');
const DENIED = new IpamError('bad-config', 'an admission webhook of the cluster refused it');
const INVALID = new IpamError('internal', 'the API server refused it as invalid');
const BROKEN = new TypeError('something is undefined');

/** A ledger that refuses to change or to release anything while a test says so. */
function refusable() {
  const below = createMemoryLedger();
  const is: { refusing: Error | null } = { refusing: null };
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    if (is.refusing !== null) throw is.refusing;
    return await work();
  };
  const ledger = ledgerWith(below, {
    amend: (seen, next) => change(() => below.amend(seen, next)),
    release: (seen) => change(() => below.release(seen)),
  });
  return { ledger, below, is };
}

test.each([
  { name: 'an ordinary pod: the role is missing', controller: null, refusing: FORBIDDEN, left: [] },
  { name: 'an ordinary pod: a webhook says no', controller: null, refusing: DENIED, left: [] },
  { name: 'an ordinary pod: it is invalid', controller: null, refusing: INVALID, left: [] },
  { name: 'an ordinary pod: a fault of the agent', controller: null, refusing: BROKEN, left: [] },
  { name: 'a sticky pod: the role is missing', controller: SET, refusing: FORBIDDEN, left: ['Retained'] },
])('a DEL that is refused succeeds, is owed and is done later: $name', async ({ controller, refusing, left }) => {
  const { ledger, is } = refusable();
  const clock = turnedClock();
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  await using made = await startMemoryClusterAgent([POOL], { ledger, log, nowMs: clock.nowMs });
  const pod = made.pods.put('db-0', { controller });
  await made.add(pod, 'c1');
  made.pods.end(pod);
  is.refusing = refusing;
  await made.del(pod, 'c1');
  await made.del(pod, 'c1'); // a runtime may ask again
  await made.settleJournal();
  expect(made.journal.size).toBe(1);
  const told = lines.filter((line) => line.includes('release not done, written to the journal'));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(refusing.message);
  is.refusing = null;
  clock.turn(60_000);
  await made.settleJournal();
  expect((await made.records()).map(({ spec }) => spec.state)).toEqual(left);
  expect(made.journal.size).toBe(0);
});

test('what is refused is tried again with backoff, and costs little however long it lasts', async () => {
  const { ledger, is, below } = refusable();
  const clock = turnedClock();
  let tries = 0;
  const counted = ledgerWith(ledger, {
    release: async (seen) => {
      tries += 1;
      return await ledger.release(seen);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger: counted, nowMs: clock.nowMs });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  made.pods.end(pod);
  is.refusing = FORBIDDEN;
  await made.del(pod, 'c1');
  tries = 0;
  for (let round = 0; round < 300; round += 1, clock.turn(2_000)) await made.settleJournal();
  expect(tries).toBeGreaterThan(10);
  expect(tries).toBeLessThan(20);
  is.refusing = null;
  clock.turn(60_000);
  await made.settleJournal();
  expect(await below.list({ limit: 9 })).toEqual([]);
});

test('a round of slow refusals ends early, and the next one begins with who had no turn', async () => {
  const below = createMemoryLedger();
  const clock = turnedClock();
  let isRefusing = false;
  const tried: string[] = [];
  const ledger = ledgerWith(below, {
    release: async (seen) => {
      if (!isRefusing) return await below.release(seen);
      tried.push(seen.spec.holder.name);
      clock.turn(3_000);
      throw FORBIDDEN;
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger, nowMs: clock.nowMs });
  const pods = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'].map((name) => made.pods.put(name));
  for (const pod of pods) await made.add(pod, pod.name);
  for (const pod of pods) made.pods.end(pod);
  isRefusing = true;
  for (const pod of pods) await made.del(pod, pod.name);
  tried.length = 0;
  await made.settleJournal();
  expect(tried).toEqual(['p1', 'p2', 'p3', 'p4']);
  await made.settleJournal();
  expect(tried.slice(4)).toEqual(['p5', 'p6', 'p7', 'p1']);
});

test('rule 8: a refused release that a new ADD of the sandbox came before does not hit it', async () => {
  const { ledger, is } = refusable();
  const clock = turnedClock();
  await using made = await startMemoryClusterAgent([POOL], { ledger, nowMs: clock.nowMs });
  const pod = made.pods.put('web');
  const first = await made.add(pod, 'c1');
  made.pods.end(pod);
  is.refusing = FORBIDDEN;
  await made.del(pod, 'c1');
  made.pods.put('web');
  // Without the changing write there is no answer, and the release stays owed.
  await expect(made.add(pod, 'c1')).rejects.toThrow('not allowed');
  expect(made.journal.size).toBe(1);
  is.refusing = null;
  expect(await made.add(pod, 'c1')).toEqual(first);
  expect(made.journal.size).toBe(0);
  clock.turn(60_000);
  await made.settleJournal();
  expect(await made.records()).toMatchObject([{ spec: { holder: { attachGeneration: 2 } } }]);
});

test('a DEL whose release can neither be done nor be written down fails', async () => {
  const { ledger, is } = refusable();
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-journal-'));
  const journal = await Journal.open(directory, () => {});
  await using made = await startMemoryClusterAgent([POOL], { ledger, journal });
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  made.pods.end(pod);
  is.refusing = FORBIDDEN;
  await rm(directory, { recursive: true });
  await expect(made.del(pod, 'c1')).rejects.toThrow('ENOENT');
  await mkdir(directory);
  await made.del(pod, 'c1');
  expect(journal.size).toBe(1);
  await rm(directory, { recursive: true });
});

test('what a failing ADD took and may not give back is owed', async () => {
  const { ledger, is } = refusable();
  const full = buildPool({ name: 'v6', subnet: 'fd00::/64', ips: ['fd00::1'], isDefault: true });
  await using made = await startMemoryClusterAgent([POOL, full], { ledger });
  await made.add(made.pods.put('first'), 'c1');
  is.refusing = FORBIDDEN;
  const failed = await made.add(made.pods.put('second'), 'c2').catch((thrown: unknown) => thrown);
  expect(failed).toMatchObject({
    reason: 'pools-exhausted',
    details: expect.stringContaining('is given back as soon'),
  });
  expect(made.journal.size).toBe(1);
  is.refusing = null;
  await made.settleJournal();
  expect((await made.records()).map(({ spec }) => spec.holder.name)).toEqual(['first', 'first']);
});

test('an operator is not told that an address is released while it is only owed', async () => {
  const { ledger, is } = refusable();
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  await made.add(made.pods.put('web'), 'c1');
  made.pods.put('web', { isAlive: false });
  const [record] = await made.records();
  const shown = { name: record?.name ?? '', uid: record?.uid ?? '', resourceVersion: record?.resourceVersion ?? '' };
  const asOfMs = performance.timeOrigin + performance.now() + 1;
  is.refusing = FORBIDDEN;
  await expect(made.agent.release({ ...shown, asOfMs, althoughInDoubt: true })).rejects.toThrow(
    "in the agent's journal",
  );
});
