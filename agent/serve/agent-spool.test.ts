import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { drainSpool } from '#agent/release/drain-spool.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { addressesOf, allRecords, bound, spoolDel, V4 } from '#test/support/agent-acts.ts';
import { addArgs, delArgs, type MemoryAgent, newCall, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

const silent = pino({ level: 'silent' });

test('rule 8: an ADD consumes the spooled DEL of its attachment, the drain afterwards frees nothing', async () => {
  await using made = await startMemoryAgent([V4]);
  const first = await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  expect(await addressesOf(made, 'c1')).toEqual(first);
  await drainSpool(made.spool, made.releaser, silent);
  expect((await allRecords(made.ledger)).map((record) => record.spec.holder.attachGeneration)).toEqual([2]);
  expect(await made.spool.names()).toEqual([]);
});

test.each([
  { name: 'whose caller went away', meanwhile: async (_made: MemoryAgent, gone: AbortController) => gone.abort() },
  { name: 'that a second DEL has overtaken', meanwhile: async (made: MemoryAgent) => await spoolDel(made, 'c1') },
])('an ADD $name does not consume the spooled DEL: it applies to what the ADD took', async ({ meanwhile }) => {
  const memory = createMemoryLedger();
  const held = Promise.withResolvers<void>();
  const ledger: Ledger = Object.assign(Object.create(memory) as Ledger, {
    ...bound(memory),
    release: memory.release.bind(memory),
    create: async (spec: RecordSpec) => {
      await held.promise;
      return await memory.create(spec);
    },
  });
  await using made = await startMemoryAgent([V4], { ledger });
  await spoolDel(made, 'c1');
  const gone = new AbortController();
  const adding = made.agent.add(addArgs('c1'), newCall(30_000, gone.signal));
  await sleep(20);
  await meanwhile(made, gone);
  held.resolve();
  await expect(adding).rejects.toMatchObject({ reason: 'caller-gone' });
  expect(await allRecords(memory)).toHaveLength(1);
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(memory)).toEqual([]);
});

test('a spooled DEL without a new ADD is applied, once', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(made.ledger)).toEqual([]);
  expect(await made.spool.names()).toEqual([]);
});

test('rule 8: a drain that has listed the entry before the ADD consumed it frees nothing', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await spoolDel(made, 'c1');
  const [adding, draining] = [addressesOf(made, 'c1'), drainSpool(made.spool, made.releaser, silent)];
  await Promise.all([adding, draining]);
  expect(await allRecords(made.ledger)).toHaveLength(1);
});

test('a poison file is set aside and reported, the others are applied', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1');
  await writeFile(join(made.spoolDirectory, 'aaa@eth0.json'), '{"version":1');
  await writeFile(join(made.spoolDirectory, 'bbb@eth0.json'), JSON.stringify({ version: 1, del: delArgs('c1') }));
  await spoolDel(made, 'c1');
  await drainSpool(made.spool, made.releaser, silent);
  expect(await allRecords(made.ledger)).toEqual([]);
  expect((await made.spool.poison()).toSorted()).toEqual(['aaa@eth0.json', 'bbb@eth0.json']);
  const { findings } = await made.agent.inspector.check();
  expect(findings.map((finding) => [finding.kind, finding.subject])).toEqual([
    ['poison-spool', 'aaa@eth0.json'],
    ['poison-spool', 'bbb@eth0.json'],
  ]);
});
