import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { Journal, spareAnswered } from './journal.ts';
import type { AbandonedName } from './journal-entry.ts';

const AT = '2026-11-16T10:00:00.000Z';
const RECORD = buildRecord({ uid: 'r-2' });
const TRIES: AbandonedName[] = ['c1', 'c2'].map((containerID) => ({
  kind: 'abandoned',
  name: RECORD.name,
  uid: 'u-1',
  containerID,
  interface: 'eth0',
  isChange: false,
  at: AT,
}));

test('the record of an answer is spared in all entries of its name, its pending release is removed, and other entries stay', async () => {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-journal-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
  const journal = await Journal.open(join(path, 'journal'), () => {});
  const elsewhere = { ...TRIES[0], name: '10.0.0.99' } as AbandonedName;
  for (const entry of [...TRIES, elsewhere]) await journal.write(entry);
  await journal.write({ kind: 'release', record: RECORD, fate: 'rest', at: AT });
  await spareAnswered([RECORD], journal);
  const reopened = await Journal.open(join(path, 'journal'), () => {});
  expect(reopened.ofRecord(RECORD.name)).toHaveLength(2);
  expect(reopened.all()).toEqual(
    expect.arrayContaining([...TRIES.map((entry) => ({ ...entry, spared: 'r-2' })), elsewhere]),
  );
});
