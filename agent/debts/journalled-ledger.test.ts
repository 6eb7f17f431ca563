import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { scriptedLedger } from '#test/support/scripted-ledger.ts';
import { Journal } from './journal.ts';
import { journalled } from './journalled-ledger.ts';

const NOW = new Date('2026-11-16T10:00:00Z');
const SPEC = buildRecord().spec;
const ENTRY = {
  kind: 'abandoned',
  name: '10.0.0.5',
  uid: 'c0ffee',
  containerID: 'c0ffee',
  interface: 'eth0',
  at: NOW.toISOString(),
};
const unknown = () => Promise.reject(abandonedWrite('create', '10.0.0.5', 'no answer'));
const away = () => Promise.reject(new IpamError('api-server-unavailable', 'connection refused'));

async function over(script: Partial<Ledger>) {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-journal-'));
  const journal = await Journal.open(join(path, 'journal'), () => {});
  const below = createMemoryLedger();
  const ledger = journalled(scriptedLedger(below, script), journal, () => NOW);
  return { below, ledger, journal, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('a create with an unknown outcome is in the journal before its caller gets the error', async () => {
  await using made = await over({ create: unknown });
  await expect(made.ledger.create(SPEC)).rejects.toThrow('may still happen');
  expect(made.journal.all()).toEqual([{ ...ENTRY, isChange: false }]);
});

test('an update with an unknown outcome is recorded as a change', async () => {
  await using made = await over({ amend: unknown, takeOver: unknown });
  const seen = buildRecord();
  await expect(made.ledger.amend(seen, SPEC)).rejects.toThrow();
  await expect(made.ledger.takeOver({ ...seen, spec: { ...SPEC, state: 'Suspect' } }, SPEC)).rejects.toThrow();
  expect(made.journal.all()).toEqual([{ ...ENTRY, isChange: true }]);
});

test('a write that certainly did not happen leaves no entry', async () => {
  await using made = await over({ create: away, amend: away });
  await expect(made.ledger.create(SPEC)).rejects.toThrow('refused');
  await expect(made.ledger.amend(buildRecord(), SPEC)).rejects.toThrow('refused');
  expect(made.journal.size).toBe(0);
});

test('a create that succeeded while an earlier try may still arrive spares only the record of its answer', async () => {
  await using made = await over({
    create: async () => ({ taken: true, record: buildRecord({ uid: 'r-1' }), mayStillLand: true }),
  });
  await made.ledger.create(SPEC);
  expect(made.journal.all()).toEqual([{ ...ENTRY, isChange: false, spared: 'r-1' }]);
});

test('a lost create of which a try may still arrive spares no record', async () => {
  await using made = await over({ create: async () => ({ taken: false, record: null, mayStillLand: true }) });
  await made.ledger.create(SPEC);
  expect(made.journal.all()).toEqual([{ ...ENTRY, isChange: false }]);
});

test('a journal that cannot be written is an error for the caller', async () => {
  await using made = await over({ create: unknown });
  await made[Symbol.asyncDispose]();
  await expect(made.ledger.create(SPEC)).rejects.toThrow('ENOENT');
});
