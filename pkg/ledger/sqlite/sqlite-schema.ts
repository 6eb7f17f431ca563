import type { DatabaseSync } from 'node:sqlite';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { inTransaction } from './sqlite-transaction.ts';

/** "ipld" */
const APPLICATION_ID = 0x69706c64;

/** Entry n leads from schema version n to n + 1. Written once, never edited: files in the field went through them. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE record (
    name TEXT NOT NULL PRIMARY KEY,
    uid TEXT NOT NULL,
    resource_version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    pool TEXT NOT NULL,
    node TEXT NOT NULL,
    state TEXT NOT NULL,
    holder_key TEXT NOT NULL,
    address BLOB NOT NULL CHECK (length(address) = 16),
    spec TEXT NOT NULL
  ) STRICT;
  CREATE INDEX record_by_holder ON record (holder_key);
  CREATE INDEX record_by_node ON record (node);
  CREATE INDEX record_by_pool ON record (pool, address, state);
  CREATE TABLE version (only INTEGER PRIMARY KEY CHECK (only = 1), latest INTEGER NOT NULL) STRICT;
  INSERT INTO version VALUES (1, 0);
  `,
  // Each index is a page more to write in every commit: one was never asked in a hot path, all rows of the other are alike.
  'DROP INDEX record_by_holder; DROP INDEX record_by_node;',
];

/** Refuses a database that is not a ledger, or one of a future version, before anything in it is touched. */
export function checkIdentity(db: DatabaseSync, file: string, migrations = MIGRATIONS): void {
  const applicationId = readPragma(db, 'application_id');
  const version = readPragma(db, 'user_version');
  if (applicationId === 0 && version === 0 && isEmpty(db)) return;
  if (applicationId !== APPLICATION_ID) {
    throw new IpamError('bad-config', `${file} is a SQLite database of another program, not a ledger`);
  }
  if (version > migrations.length) {
    throw new IpamError(
      'bad-config',
      `${file} was written by a newer ipledger: its schema is version ${version}, this agent knows up to ${migrations.length}`,
      { details: 'Start the newer version again, or restore the copy of the file that was made before the upgrade.' },
    );
  }
}

/** Creates the schema, or brings an older one up to date; all of it or nothing. */
export function migrate(db: DatabaseSync, migrations = MIGRATIONS): void {
  const version = readPragma(db, 'user_version');
  if (version === migrations.length) return;
  inTransaction(db, () => {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}

function readPragma(db: DatabaseSync, name: string): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}
