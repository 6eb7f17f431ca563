import { DatabaseSync } from 'node:sqlite';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ensurePrivateFile, makePrivateIfPresent } from './private-file.ts';
import { checkPages, checkRows } from './sqlite-check.ts';
import { toLedgerFailure } from './sqlite-failure.ts';
import { checkIdentity, migrate } from './sqlite-schema.ts';

/** A wait for a foreign lock stops the event loop, so it is short. */
const BUSY_TIMEOUT_MS = 1000;

/** The database of a ledger: known to be ours, whole, private and durable. Throws an IpamError that says what to do. */
export function openDatabase(file: string): DatabaseSync {
  try {
    // SQLite gives -wal and -shm the mode of the file itself, but only when it makes them.
    ensurePrivateFile(file);
    makePrivateIfPresent(`${file}-wal`);
    makePrivateIfPresent(`${file}-shm`);
    return prepared(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }), file);
  } catch (thrown) {
    throw toLedgerFailure(file, thrown);
  }
}

function prepared(db: DatabaseSync, file: string): DatabaseSync {
  try {
    checkIdentity(db, file);
    checkPages(db, file);
    setPragmas(db, file);
    migrate(db);
    checkRows(db, file);
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

function setPragmas(db: DatabaseSync, file: string): void {
  const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode'];
  if (mode !== 'wal') throw new IpamError('bad-config', `the file system of ${file} cannot carry a write-ahead log`);
  db.exec(
    'PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON',
  );
}
