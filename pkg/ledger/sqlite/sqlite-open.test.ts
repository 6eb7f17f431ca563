import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { expectFailure, taken } from '#test/contract/ledger-resource.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { openSqliteLedger } from './sqlite-ledger.ts';
import { openDatabase } from './sqlite-open.ts';

test('a commit is durable when it returns', () => {
  using directory = makeTemporaryDirectory();
  using db = openDatabase(`${directory.path}/ledger.db`);
  const read = (pragma: string) => db.prepare(`PRAGMA ${pragma}`).get()?.[pragma];
  const FULL = 2;
  expect([read('journal_mode'), read('synchronous'), read('foreign_keys')]).toEqual(['wal', FULL, 1]);
});

test('all of its files are private, also those that were not', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  const modes = () => ['', '-wal', '-shm'].map((end) => statSync(`${file}${end}`).mode & 0o777);
  await using ledger = await openSqliteLedger(file);
  await taken(ledger, specOf('10.0.0.1'));
  expect(modes()).toEqual([0o600, 0o600, 0o600]);
  for (const end of ['', '-wal', '-shm']) chmodSync(`${file}${end}`, 0o644);
  await using second = await openSqliteLedger(file);
  expect(modes()).toEqual([0o600, 0o600, 0o600]);
  expect(await second.get('10.0.0.1')).not.toBeNull();
});

test('an empty file, left by a crash in the first moment, becomes a ledger', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  writeFileSync(file, '');
  await using ledger = await openSqliteLedger(file);
  expect(await ledger.list({ limit: 1 })).toEqual([]);
});

test('a missing directory is said, not made', async () => {
  using directory = makeTemporaryDirectory();
  const failure = await expectFailure(openSqliteLedger(`${directory.path}/none/ledger.db`), 'io-failure');
  expect(failure.message).toMatch(/none\/ledger\.db cannot be used: ENOENT/);
});

test('a file that is not a database is refused and not touched', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/ledger.db`;
  writeFileSync(file, 'hello '.repeat(1000));
  const failure = await expectFailure(openSqliteLedger(file), 'io-failure');
  expect(failure.message).toBe(`the ledger ${file} is damaged or not a database: file is not a database`);
  expect(failure.details).toContain('.recover');
  expect(readFileSync(file, 'utf8')).toBe('hello '.repeat(1000));
});

test('the database of another program is refused and not touched', async () => {
  using directory = makeTemporaryDirectory();
  const file = `${directory.path}/music.db`;
  const music = new DatabaseSync(file);
  music.exec('CREATE TABLE songs (title TEXT)');
  music.close();
  const before = readFileSync(file);
  const failure = await expectFailure(openSqliteLedger(file), 'bad-config');
  expect(failure.message).toBe(`${file} is a SQLite database of another program, not a ledger`);
  expect(readFileSync(file)).toEqual(before);
});

test('the database of a newer version is refused', async () => {
  using directory = makeTemporaryDirectory();
  const file = await makeFilledLedger(directory.path, 1);
  tamper(file, 'PRAGMA user_version = 99');
  const failure = await expectFailure(openSqliteLedger(file), 'bad-config');
  expect(failure.message).toMatch(/newer ipledger: its schema is version 99/);
});

test('a database of the first version is brought up to date, with its records and its counter', async () => {
  using directory = makeTemporaryDirectory();
  const file = await makeFilledLedger(directory.path, 3);
  tamper(
    file,
    `CREATE INDEX record_by_holder ON record (holder_key); CREATE INDEX record_by_node ON record (node);
    UPDATE record SET resource_version = 7; UPDATE version SET latest = 7; PRAGMA user_version = 1`,
  );
  await using ledger = await openSqliteLedger(file);
  const records = await ledger.list({ limit: 10 });
  expect(records.map(({ name }) => name)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  const outcome = await ledger.create(specOf('10.0.9.9'));
  expect(Number(outcome.record?.resourceVersion)).toBeGreaterThan(7);
});

test('a damaged page is found at the start, with the file and what to do', async () => {
  using directory = makeTemporaryDirectory();
  const file = await makeFilledLedger(directory.path, 50);
  const bytes = readFileSync(file);
  bytes.fill(0xee, 3 * 4096, 3 * 4096 + 2000);
  writeFileSync(file, bytes);
  const failure = await expectFailure(openSqliteLedger(file), 'io-failure');
  expect(failure.message).toContain(`the ledger ${file} is damaged`);
  expect(failure.details).toContain('restore a backup');
});

test.each([
  [
    'a spec that cannot be read',
    `UPDATE record SET spec = '{}'`,
    /the record 10\.0\.0\.1 cannot be read: spec\.address/,
  ],
  ['a spec that is not JSON', `UPDATE record SET spec = 'x'`, /the record 10\.0\.0\.1 cannot be read/],
  ['a name that is not its address', `UPDATE record SET name = '10.0.0.9'`, /the record 10\.0\.0\.9 holds 10\.0\.0\.1/],
  ['a wrong pool', `UPDATE record SET pool = 'other'`, /10\.0\.0\.1 disagrees with its column pool/],
  ['a wrong number', 'UPDATE record SET address = zeroblob(16)', /10\.0\.0\.1 disagrees with its column address/],
  ['a wrong state', `UPDATE record SET state = 'Suspect'`, /10\.0\.0\.1 disagrees with its column state/],
  ['a wrong key', `UPDATE record SET holder_key = 'k'`, /10\.0\.0\.1 disagrees with its column holder_key/],
  [
    'a version ahead of the counter',
    'UPDATE version SET latest = 0',
    /10\.0\.0\.1 is newer than the counter of versions/,
  ],
])('a row with %s is found at the start', async (_, sql, message) => {
  using directory = makeTemporaryDirectory();
  const file = await makeFilledLedger(directory.path, 1);
  tamper(file, sql);
  const failure = await expectFailure(openSqliteLedger(file), 'io-failure');
  expect(failure.message).toMatch(message);
});

test('damage of any kind ends as an IpamError or not at all', async () => {
  using directory = makeTemporaryDirectory();
  const file = await makeFilledLedger(directory.path, 50);
  const whole = readFileSync(file);
  const damage = fc.record({
    at: fc.nat({ max: whole.length - 1 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 600 }),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ at, bytes }) => {
      const damaged = Buffer.from(whole);
      damaged.set(bytes.subarray(0, whole.length - at), at);
      writeFileSync(file, damaged);
      try {
        await using ledger = await openSqliteLedger(file);
        await ledger.list({ limit: 100 });
        await ledger.create(specOf('10.0.9.9'));
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(IpamError);
        expect(thrown).toHaveProperty('reason', expect.stringMatching(/^(io-failure|bad-config)$/));
      }
    }),
    { numRuns: 60 },
  );
});

async function makeFilledLedger(directory: string, records: number): Promise<string> {
  const file = `${directory}/ledger.db`;
  await using ledger = await openSqliteLedger(file);
  await Promise.all(Array.from({ length: records }, (_, n) => taken(ledger, specOf(`10.0.0.${n + 1}`))));
  return file;
}

function tamper(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}
