import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, type MemoryAgent, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

/** More than the creates that may be under way in one pool. */
const CROWD = 100;
const MOST_CREATES = 24;
const BUSY = buildPool({ name: 'busy', subnet: '10.0.0.0/16' });
const OTHER = buildPool({ name: 'other', subnet: '10.9.0.0/16' });

async function add({ agent }: MemoryAgent, containerID: string, pool: string): Promise<string | undefined> {
  const { ips } = await agent.add(addArgs(containerID, { defaultIPv4IPPool: [pool] }), newCall());
  return ips[0]?.ipPool;
}

const crowd = (made: MemoryAgent) => Array.from({ length: CROWD }, (_, at) => add(made, `busy-${at}`, 'busy'));

/** A ledger whose answers about the busy pool are held back from the moment on that somebody says so. */
function holdingLedger(holds: 'create' | 'takenOf') {
  const below: Ledger = createMemoryLedger();
  const held = Promise.withResolvers<void>();
  const script = { isHolding: false, rivals: 0, calls: 0 };
  const pass = async (kind: 'create' | 'takenOf', pool: string) => {
    if (pool !== 'busy' || kind !== holds || !script.isHolding) return;
    script.calls += 1;
    await held.promise;
  };
  const ledger: Ledger = ledgerWith(below, {
    create: async (spec, limits) => {
      if (script.rivals > 0 && spec.pool.name === 'busy') {
        script.rivals -= 1;
        const uid = `rival-${script.rivals}`;
        const rival = { node: 'worker-2', uid, name: uid, containerID: uid };
        await below.create({ ...spec, holder: { ...spec.holder, ...rival } });
      } else await pass('create', spec.pool.name);
      return await below.create(spec, limits);
    },
    takenOf: async (pool) => {
      await pass('takenOf', pool);
      return await below.takenOf(pool);
    },
  });
  return { ledger, script, release: held.resolve };
}

test.each([
  { holds: 'create', rivals: 1 },
  { holds: 'takenOf', rivals: CROWD },
] as const)(
  'pods of another pool do not wait for those of a pool where $rivals creates are lost and every $holds takes its time',
  async ({ holds, rivals }) => {
    const { ledger, script, release } = holdingLedger(holds);
    await using made = await startMemoryAgent([BUSY, OTHER], { ledger });
    await Promise.all([add(made, 'first', 'busy'), add(made, 'second', 'other')]);
    Object.assign(script, { isHolding: true, rivals });
    const adding = crowd(made);
    for (let at = 0; at < 50; at += 1) await turn();
    expect(script.calls).toBeGreaterThan(0);
    expect(await add(made, 'third', 'other')).toBe('other');
    release();
    expect(await Promise.all(adding)).toEqual(Array.from({ length: CROWD }, () => 'busy'));
  },
);

test('a burst in one pool has a bounded number of creates under way', async () => {
  const { ledger, script, release } = holdingLedger('create');
  await using made = await startMemoryAgent([BUSY], { ledger });
  await add(made, 'first', 'busy');
  script.isHolding = true;
  const adding = crowd(made);
  for (let at = 0; at < 50; at += 1) await turn();
  expect(script.calls).toBe(MOST_CREATES);
  release();
  await Promise.all(adding);
  expect(script.calls).toBe(CROWD);
});

test('where the ledger is in the same process a burst has no bound of its own', async () => {
  const { ledger, script, release } = holdingLedger('create');
  await using made = await startMemoryAgent([BUSY], { ledger, mostCreates: Number.POSITIVE_INFINITY });
  await add(made, 'first', 'busy');
  script.isHolding = true;
  const adding = crowd(made);
  for (let at = 0; at < 50; at += 1) await turn();
  expect(script.calls).toBe(CROWD);
  release();
  await Promise.all(adding);
});

test('a crowd of calls that find their pool full shares one read of it', async () => {
  const below: Ledger = createMemoryLedger();
  let reads = 0;
  const ledger = ledgerWith(below, {
    takenOf: async (pool) => {
      reads += 1;
      await turn();
      return await below.takenOf(pool);
    },
  });
  const tiny = buildPool({ name: 'busy', ips: ['10.0.0.10'] });
  await using made = await startMemoryAgent([tiny], { ledger });
  await add(made, 'first', 'busy');
  reads = 0;
  const outcomes = await Promise.allSettled(crowd(made));
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  expect(reads).toBe(1);
});

test('a read that nobody needs keeps nobody waiting', async () => {
  const { ledger, script, release } = holdingLedger('takenOf');
  await using made = await startMemoryAgent([BUSY], { ledger });
  await add(made, 'first', 'busy');
  script.isHolding = true;
  expect(await Promise.all(crowd(made))).toHaveLength(CROWD);
  expect(script.calls).toBe(1);
  release();
});

test('a call whose time is over does not wait for a read that takes longer; those behind it have the use of it', async () => {
  const { ledger, script, release } = holdingLedger('takenOf');
  script.isHolding = true;
  await using made = await startMemoryAgent([BUSY], { ledger });
  const hasty = made.agent.add(addArgs('hasty', { defaultIPv4IPPool: ['busy'] }), newCall(200));
  await expect(hasty).rejects.toMatchObject({
    reason: 'out-of-time',
    message: expect.stringContaining('before the records of pool busy were read'),
  });
  const patient = add(made, 'patient', 'busy');
  release();
  expect(await patient).toBe('busy');
  expect(script.calls).toBe(1);
});

test('an address that was not taken after all wakes who waits for one', async () => {
  const below: Ledger = createMemoryLedger();
  const failing = Promise.withResolvers<never>();
  let creates = 0;
  const ledger = ledgerWith(below, {
    create: (spec, limits) => {
      creates += 1;
      return creates === 1 ? failing.promise : below.create(spec, limits);
    },
  });
  const tiny = buildPool({ name: 'tiny', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryAgent([tiny], { ledger, exhaustedWaitMs: 20_000 });
  const refused = add(made, 'refused', 'tiny');
  for (let at = 0; at < 20; at += 1) await turn();
  const waiting = add(made, 'waiting', 'tiny');
  for (let at = 0; at < 20; at += 1) await turn();
  failing.reject(new IpamError('bad-config', 'a webhook says no'));
  await expect(refused).rejects.toThrow('a webhook says no');
  expect(await waiting).toBe('tiny');
});
