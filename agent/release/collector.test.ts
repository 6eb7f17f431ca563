import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { addArgs, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.12'], isDefault: true });

async function makeNetnsDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-netns-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('an address is freed when its namespace is gone in two looks a minute apart, not before', async () => {
  await using directory = await makeNetnsDirectory();
  const netns = join(directory.path, 'ns1');
  await writeFile(netns, '');
  let nowMs = 0;
  await using made = await startMemoryAgent([POOL], { nowMs: () => nowMs });
  await made.agent.add(addArgs('c1', { netNamespace: netns, requestedIPs: ['10.0.0.11'] }), newCall());
  nowMs = 10_000;
  expect(await made.collector.collect(false)).toEqual({ dryRun: false, freed: [], kept: [] });
  await rm(netns);
  expect((await made.collector.collect(false)).kept).toHaveLength(1);
  nowMs = 69_999;
  expect((await made.collector.collect(false)).freed).toEqual([]);
  nowMs = 70_000;
  expect((await made.collector.collect(true)).freed).toHaveLength(1);
  expect(await made.ledger.list({ limit: 9 })).toHaveLength(1);
  expect((await made.collector.collect(false)).freed).toMatchObject([{ name: '10.0.0.11' }]);
  expect(await made.ledger.list({ limit: 9 })).toEqual([]);
});

test('a namespace that was seen again in between starts the minute anew', async () => {
  await using directory = await makeNetnsDirectory();
  const netns = join(directory.path, 'ns1');
  await writeFile(netns, '');
  let nowMs = 0;
  await using made = await startMemoryAgent([POOL], { nowMs: () => nowMs });
  await made.agent.add(addArgs('c1', { netNamespace: netns }), newCall());
  await rm(netns);
  nowMs = 1;
  await made.collector.collect(false);
  await writeFile(netns, '');
  nowMs = 30_000;
  await made.collector.collect(false);
  await rm(netns);
  nowMs = 61_000;
  expect((await made.collector.collect(false)).freed).toEqual([]);
});

test('a namespace that the agent could never see, or whose directory vanished too, is no evidence', async () => {
  let nowMs = 0;
  await using made = await startMemoryAgent([POOL], { nowMs: () => nowMs });
  const directory = await makeNetnsDirectory();
  const netns = join(directory.path, 'ns1');
  await writeFile(netns, '');
  await made.agent.add(addArgs('c1', { netNamespace: netns }), newCall());
  await made.agent.add(addArgs('c2', { netNamespace: '/nowhere/at/all' }), newCall());
  await directory[Symbol.asyncDispose]();
  for (nowMs of [1, 100_000, 200_000]) expect((await made.collector.collect(false)).freed).toEqual([]);
  expect(await made.ledger.list({ limit: 9 })).toHaveLength(2);
});
