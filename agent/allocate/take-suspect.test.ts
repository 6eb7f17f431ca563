import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const IPS = ['10.0.0.10', '10.0.0.11'];
const POOL = buildPool({ name: 'v4', ips: IPS, isDefault: true });
const CONFLICT = { kind: 'conflict', mac: '02:00:00:00:00:99' } as const;

async function suspectIn(ledger: Ledger, address: string): Promise<IpRecord> {
  const holder = { kind: 'Pod', namespace: 'prod', name: 'lost', uid: address, node: 'worker-9' } as const;
  const { record } = await ledger.create(buildRecord({ address, holder }).spec);
  const outcome = record === null ? null : await ledger.amend(record, { ...record.spec, state: 'Suspect' });
  if (outcome?.done !== true) throw new Error(`${address} is not Suspect`);
  return outcome.record;
}

test('it is probed and taken over when nothing free is left, whatever the switches say', async () => {
  const ledger = createMemoryLedger();
  const suspect = await suspectIn(ledger, '10.0.0.10');
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober });
  expect(await made.add(made.pods.put('first'), 'c1')).toEqual(['10.0.0.11']);
  expect(prober.probed).toEqual([]);
  const second = made.pods.put('second');
  expect(await made.add(second, 'c2')).toEqual(['10.0.0.10']);
  expect(prober.probed).toEqual(['10.0.0.10', '10.0.0.10', '10.0.0.10']);
  expect(await ledger.get('10.0.0.10')).toMatchObject({
    uid: suspect.uid,
    spec: { state: 'Allocated', holder: { uid: second.uid, node: 'worker-1', containerID: 'c2' } },
  });
  made.pods.end(second);
  await made.del(second, 'c2');
  expect(await ledger.get('10.0.0.10')).toBeNull();
});

test('without a prober it is never taken', async () => {
  const ledger = createMemoryLedger();
  const before = [await suspectIn(ledger, '10.0.0.10'), await suspectIn(ledger, '10.0.0.11')];
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  await expect(made.add(made.pods.put('web'), 'c1')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  expect(await made.records()).toEqual(before);
});

test.each([
  { name: 'somebody answers', verdict: CONFLICT },
  { name: 'it could not be probed', verdict: { kind: 'failed', why: 'eth0 is down' } },
  { name: 'there is no link to probe on yet', verdict: { kind: 'skipped', why: 'no interface' } },
] as const)('where $name its record stays as it is, and the next one is tried', async ({ verdict }) => {
  const ledger = createMemoryLedger();
  const before = [await suspectIn(ledger, '10.0.0.10'), await suspectIn(ledger, '10.0.0.11')];
  const prober = new ScriptedProber({ '10.0.0.10': verdict });
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober });
  expect(await made.add(made.pods.put('web'), 'c1')).toEqual(['10.0.0.11']);
  expect(await ledger.get('10.0.0.10')).toEqual(before[0]);
});

test('a namespace that this agent cannot see cannot be probed in', async () => {
  const ledger = createMemoryLedger();
  for (const address of IPS) await suspectIn(ledger, address);
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober: new ScriptedProber() });
  const adding = made.add(made.pods.put('web'), 'c1', { netNamespace: '/nowhere/at/all' });
  await expect(adding).rejects.toMatchObject({ reason: 'pools-exhausted' });
});

test('those that answer do not hide the silent ones behind them, and nobody asks them again at once', async () => {
  const ips = Array.from({ length: 12 }, (_, at) => `10.0.0.${10 + at}`);
  const ledger = createMemoryLedger();
  for (const address of ips) await suspectIn(ledger, address);
  const [silent, ...answering] = ips.toReversed();
  const prober = new ScriptedProber(Object.fromEntries(answering.map((address) => [address, CONFLICT])));
  const pool = buildPool({ name: 'v4', ips, isDefault: true });
  await using made = await startMemoryClusterAgent([pool], { ledger, prober });
  await expect(made.add(made.pods.put('first'), 'c1')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  expect(await made.add(made.pods.put('second'), 'c2')).toEqual([silent]);
  expect([...new Set(prober.probed)].toSorted()).toEqual(ips.toSorted());
  expect(prober.probed).toHaveLength(answering.length + 3);
});

test('what one call could not ask about the next one may', async () => {
  const ledger = createMemoryLedger();
  for (const address of IPS) await suspectIn(ledger, address);
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober: new ScriptedProber() });
  const blind = made.add(made.pods.put('blind'), 'c1', { netNamespace: '/nowhere/at/all' });
  await expect(blind).rejects.toMatchObject({ reason: 'pools-exhausted' });
  expect(await made.add(made.pods.put('web'), 'c2')).toHaveLength(1);
});

test('one that its holder took back during the probe is left alone', async () => {
  const below = createMemoryLedger();
  const suspect = await suspectIn(below, '10.0.0.10');
  const ledger = ledgerWith(below, {
    takeOver: async (seen, next) => {
      await below.amend(suspect, { ...suspect.spec, state: 'Allocated' });
      return await below.takeOver(seen, next);
    },
  });
  const pool = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true });
  await using made = await startMemoryClusterAgent([pool], { ledger, prober: new ScriptedProber() });
  await expect(made.add(made.pods.put('web'), 'c1')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  expect((await below.get('10.0.0.10'))?.spec).toMatchObject({ state: 'Allocated', holder: { name: 'lost' } });
});
