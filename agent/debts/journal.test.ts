import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { Journal, journalled } from './journal.ts';
import { type AbandonedName, entryFileName, type JournalledRelease } from './journal-entry.ts';

const AT = '2026-11-16T10:00:00.000Z';
const RELEASE: JournalledRelease = { kind: 'release', record: buildRecord(), fate: 'rest', at: AT };
const ABANDONED: AbandonedName = {
  kind: 'abandoned',
  name: '10.0.0.9',
  uid: 'u-1',
  containerID: 'c1',
  interface: 'eth0',
  isChange: false,
  at: AT,
};

async function makeDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-journal-'));
  return { path: join(path, 'journal'), [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

const openStrict = (path: string) =>
  Journal.open(path, (file, why) => {
    throw new Error(`${file}: ${why}`);
  });

test('a directory in it is reported, and does not keep the agent from starting', async () => {
  await using directory = await makeDirectory();
  const before = await openStrict(directory.path);
  await before.write(RELEASE);
  for (const name of ['lost+found', 'x.json']) await mkdir(join(directory.path, name));
  const reported: string[] = [];
  const after = await Journal.open(directory.path, (file) => void reported.push(file));
  expect([after.size, reported.toSorted()]).toEqual([1, ['lost+found', 'x.json']]);
});

test('a written entry is there after a restart, and a removed one is not', async () => {
  await using directory = await makeDirectory();
  const before = await openStrict(directory.path);
  await before.write(RELEASE);
  await before.write({ ...ABANDONED, spared: 'r-1' });
  const after = await openStrict(directory.path);
  expect(after.all()).toHaveLength(2);
  expect(after.all()).toEqual(expect.arrayContaining([RELEASE, { ...ABANDONED, spared: 'r-1' }]));
  for (const entry of after.all()) await after.remove(entry);
  expect((await openStrict(directory.path)).size).toBe(0);
  expect(await readdir(directory.path)).toEqual([]);
});

test('the later of two equal entries replaces the first', async () => {
  await using directory = await makeDirectory();
  const journal = await openStrict(directory.path);
  await journal.write(ABANDONED);
  const spared = { ...ABANDONED, spared: 'r-1' };
  await journal.write(spared);
  expect(journal.all()).toEqual([spared]);
  await journal.remove(ABANDONED); // was replaced by the entry above
  expect((await openStrict(directory.path)).all()).toEqual([spared]);
});

test('concurrent writes and removals of one entry leave the same in memory and on disk', async () => {
  await using directory = await makeDirectory();
  const journal = await openStrict(directory.path);
  const versions = Array.from({ length: 20 }, (_, at) => ({ ...ABANDONED, spared: `r-${at}` }));
  await Promise.all(versions.flatMap((entry) => [journal.write(entry), journal.remove(entry)]));
  expect((await openStrict(directory.path)).all()).toEqual(journal.all());
});

test('entries are found by their sandbox and by the name of their record', async () => {
  await using directory = await makeDirectory();
  const journal = await openStrict(directory.path);
  await journal.write(RELEASE);
  await journal.write(ABANDONED);
  expect(journal.ofNic({ containerID: 'c1', ifName: 'eth0' }, '')).toEqual([ABANDONED]);
  expect(journal.ofNic({ containerID: 'c1', ifName: 'net1' }, '')).toEqual([]);
  expect(journal.ofNic({ containerID: 'c0ffee', ifName: 'eth0' }, '')).toEqual([RELEASE]);
  // Another sandbox of the same pod left it.
  expect(journal.ofNic({ containerID: 'c2', ifName: 'eth0' }, ABANDONED.uid)).toEqual([ABANDONED]);
  expect(journal.ofNic({ containerID: 'c2', ifName: 'net1' }, ABANDONED.uid)).toEqual([]);
  expect(journal.ofRecord('10.0.0.5')).toEqual([RELEASE]);
  expect(journal.ofRecord('10.0.0.9')).toEqual([ABANDONED]);
});

test.each([
  { name: 'no JSON', text: '{"kind":' },
  { name: 'another kind', text: JSON.stringify({ ...ABANDONED, kind: 'theft' }) },
  { name: 'a record that is none', text: JSON.stringify({ ...RELEASE, record: { name: 7 } }) },
  { name: "another entry's content", text: JSON.stringify({ ...ABANDONED, name: '10.0.0.99' }) },
  { name: 'wrong types', text: JSON.stringify({ ...ABANDONED, isChange: 'yes' }) },
])('a file with $name is reported by its name and not removed', async ({ text }) => {
  await using directory = await makeDirectory();
  await openStrict(directory.path);
  const file = entryFileName(ABANDONED);
  await writeFile(join(directory.path, file), text);
  const told: string[] = [];
  const journal = await Journal.open(directory.path, (name) => told.push(name));
  expect([told, journal.size, await readdir(directory.path)]).toEqual([[file], 0, [file]]);
});

test('a partial file that a crash left is removed', async () => {
  await using directory = await makeDirectory();
  await openStrict(directory.path);
  await writeFile(join(directory.path, `${entryFileName(ABANDONED)}.unfinished`), '{"ki');
  expect((await openStrict(directory.path)).size).toBe(0);
  expect(await readdir(directory.path)).toEqual([]);
});

test('an abandoned update does not replace the entry of an abandoned create', async () => {
  await using directory = await makeDirectory();
  const journal = await openStrict(directory.path);
  await journal.write(ABANDONED);
  await journal.write({ ...ABANDONED, isChange: true });
  expect((await openStrict(directory.path)).all()).toEqual(
    expect.arrayContaining([ABANDONED, { ...ABANDONED, isChange: true }]),
  );
});

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
  const ledger = journalled(ledgerWith(below, script), journal, () => NOW);
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
