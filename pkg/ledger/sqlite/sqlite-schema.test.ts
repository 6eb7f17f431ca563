import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { checkIdentity, migrate } from './sqlite-schema.ts';

const V1 = 'CREATE TABLE t (a TEXT) STRICT; INSERT INTO t VALUES (1)';
const V2 = 'ALTER TABLE t ADD COLUMN b TEXT';
const BROKEN = 'UPDATE t SET a = 2; SELECT nonsense';

function userVersion(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA user_version').get()?.['user_version'];
}

test('an older database walks through the steps it has not seen', () => {
  using db = new DatabaseSync(':memory:');
  migrate(db, [V1]);
  migrate(db, [V1, V2]);
  migrate(db, [V1, V2]);
  expect(userVersion(db)).toBe(2);
  expect({ ...db.prepare('SELECT * FROM t').get() }).toEqual({ a: '1', b: null });
});

test('a step that fails leaves the version before it', () => {
  using db = new DatabaseSync(':memory:');
  migrate(db, [V1]);
  expect(() => migrate(db, [V1, V2, BROKEN])).toThrow(/nonsense/);
  expect(userVersion(db)).toBe(1);
  expect({ ...db.prepare('SELECT * FROM t').get() }).toEqual({ a: '1' });
});

test('a database of a newer version is refused, of the same or an older one not', () => {
  using db = new DatabaseSync(':memory:');
  migrate(db, [V1, V2]);
  expect(() => checkIdentity(db, 'ledger.db', [V1])).toThrow(
    'ledger.db was written by a newer ipledger: its schema is version 2, this agent knows up to 1',
  );
  expect(() => checkIdentity(db, 'ledger.db', [V1, V2])).not.toThrow();
  expect(() => checkIdentity(db, 'ledger.db', [V1, V2, V2])).not.toThrow();
});

test('a database of another program is refused', () => {
  using db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE songs (title TEXT)');
  expect(() => checkIdentity(db, 'music.db')).toThrow('music.db is a SQLite database of another program, not a ledger');
});
