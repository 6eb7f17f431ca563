import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holderKey } from '#pkg/record/ip-record.ts';
import { amended, expectFailure, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, holderOf, specOf } from '#test/contract/record-spec.ts';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { openSqliteLedger } from './sqlite-ledger.ts';

test('records outlive the process as they were', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const ledger = await openSqliteLedger(file, { now: () => new Date('2026-11-16T10:00:00Z') });
  const record = await taken(ledger, specOf('fd00::a', { gateway: 'fd00::1', cleanGateway: true }));
  expect(record.createdAt).toBe('2026-11-16T10:00:00.000Z');
  await ledger.close();
  await using again = await openSqliteLedger(file);
  expect(await again.get(record.name)).toEqual(record);
});

test('a version never comes twice, not even after everything was deleted and the process ended', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const versions: number[] = [];
  for (let life = 0; life < 3; life++) {
    await using ledger = await openSqliteLedger(file);
    const first = await taken(ledger, specOf('10.0.0.1'));
    const second = await amended(ledger, first, heldBy(first.spec, { attachGeneration: 2 }));
    await ledger.release(second);
    versions.push(Number(first.resourceVersion), Number(second.resourceVersion));
  }
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
});

test('what was asked for before close is still done', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const ledger = await openSqliteLedger(file);
  const created = ledger.create(specOf('10.0.0.1'));
  await ledger.close();
  expect((await created).taken).toBe(true);
  expect(existsSync(`${file}-wal`)).toBe(false);
  await using again = await openSqliteLedger(file);
  expect(await again.get('10.0.0.1')).not.toBeNull();
});

test('a database that another process keeps locked is said so, and works when it is free', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  await using ledger = await openSqliteLedger(file);
  using other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const failure = await expectFailure(ledger.create(specOf('10.0.0.1')), 'io-failure');
  expect(failure.message).toBe(`${file} is locked by another process`);
  expect(await ledger.list({ limit: 10 })).toEqual([]);
  other.exec('ROLLBACK');
  expect((await ledger.create(specOf('10.0.0.1'))).taken).toBe(true);
});

test('a write that SQLite refuses takes its whole batch with it and nothing else', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  await using ledger = await openSqliteLedger(file);
  const before = await taken(ledger, specOf('10.0.0.9'));
  using other = new DatabaseSync(file);
  other.exec(
    `CREATE TRIGGER t BEFORE INSERT ON record WHEN new.name = '10.0.0.2' BEGIN SELECT RAISE(ABORT, 'no'); END`,
  );
  const batch = await Promise.allSettled(['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((ip) => ledger.create(specOf(ip))));
  expect(batch.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await ledger.list({ limit: 10 })).toEqual([before]);
  expect((await ledger.create(specOf('10.0.0.3'))).taken).toBe(true);
});

test('whatever text a holder carries is kept as it is, or refused at once', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const codeUnits = fc.uint16Array({ minLength: 1, maxLength: 20 });
  const text = codeUnits.map((units) => String.fromCharCode(...units));
  let last = 0;
  await fc.assert(
    fc.asyncProperty(text, text, async (name, node) => {
      await using ledger = await openSqliteLedger(file);
      last += 1;
      const holder = holderOf({ name, node });
      const outcome = await ledger.create(specOf(`10.0.0.${last}`, { holder })).catch(() => null);
      expect(outcome !== null).toBe(!name.includes('/') && `${name} ${node}`.isWellFormed());
      if (outcome === null) return;
      expect(await ledger.byHolder(holderKey(holder, 4))).toContainEqual(outcome.record);
      expect(await ledger.byNode(node)).toContainEqual(outcome.record);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});
