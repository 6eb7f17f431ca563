import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { ensurePrivateFile } from './private-file.ts';
import { isBusy, toLedgerFailure } from './sqlite-failure.ts';

/** A handle that the garbage collector closes would drop its lock in silence. */
const held = new Set<DatabaseSync>();

/** One agent per data directory. */
export function lockDataDirectory(directory: string): Disposable {
  return holdLock(join(directory, 'lock'), directory);
}

/** One agent per socket: two that start at once must not both find the socket stale. */
export function lockSocketPath(path: string): Disposable {
  return holdLock(`${path}.lock`, path);
}

/**
 * Node has no flock, but SQLite takes a kernel lock on its file for a transaction: it ends with the process, also by
 * kill -9. Throws `io-failure` if another process has it.
 */
function holdLock(base: string, what: string): Disposable {
  const pidFile = `${base}.pid`;
  const db = openLock(
    `${base}.db`,
    () => new IpamError('io-failure', `another ipledger-agent (${describeOwner(pidFile)}) uses ${what}`),
  );
  held.add(db);
  notePid(pidFile);
  return {
    [Symbol.dispose]: () => {
      if (!held.delete(db)) return;
      rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

function openLock(file: string, whenHeld: () => IpamError): DatabaseSync {
  try {
    ensurePrivateFile(file);
    return lockFile(file);
  } catch (thrown) {
    throw isBusy(thrown) ? whenHeld() : toLedgerFailure(file, thrown);
  }
}

function lockFile(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    // With its journal in memory nothing is ever written, so a full disk does not matter and a kill leaves nothing behind.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
}

/** Only for the message above: the lock holds without it. */
function notePid(pidFile: string): void {
  try {
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch {}
}

function describeOwner(pidFile: string): string {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    return Number.isSafeInteger(pid) ? `pid ${pid}` : 'pid unknown';
  } catch {
    return 'pid unknown';
  }
}
