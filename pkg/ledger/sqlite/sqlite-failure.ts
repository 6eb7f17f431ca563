import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

/** Result codes of SQLite, https://www.sqlite.org/rescode.html: the low byte of the extended code. */
const PERM = 3;
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

const SCARCE_BYTES = 64 * 1024;

/** What SQLite or the file system threw about `file`, as a sentence for the operator. */
export function toLedgerFailure(file: string, thrown: unknown): IpamError {
  if (!(thrown instanceof Error) || !isAboutFile(thrown)) return toIpamError(thrown);
  const code = primaryCode(thrown);
  if (code === CORRUPT || code === NOTADB) return damagedFile(file, thrown.message, thrown);
  return new IpamError('io-failure', describeFailure(file, thrown, code), {
    details: `the system says: ${thrown.message}`,
    cause: thrown,
  });
}

export function damagedFile(file: string, said: string, cause?: unknown): IpamError {
  return new IpamError('io-failure', `the ledger ${file} is damaged or not a database: ${said}`, {
    details: [
      `Keep a copy of ${file} and ${file}-wal before anything else.`,
      `Then restore a backup, or try: sqlite3 ${file} .recover | sqlite3 ${file}.new, and put that file in its place.`,
      'Moving the file away starts an empty ledger: stop all containers first, or their addresses are given out again.',
    ].join('\n'),
    cause,
  });
}

export function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && primaryCode(thrown) === BUSY;
}

function describeFailure(file: string, thrown: Error, code: number | null): string {
  if (code === FULL || errnoOf(thrown) === 'ENOSPC' || ((code === IOERR || code === CANTOPEN) && isDiskFull(file))) {
    return `the disk that holds ${file} is full: nothing was written; free some space and try again`;
  }
  if (code === BUSY) return `${file} is locked by another process`;
  if (code === IOERR) return `the disk that holds ${file} reports errors`;
  if (code === PERM || code === READONLY || code === CANTOPEN) return `${file} cannot be opened for writing`;
  return `${file} cannot be used: ${thrown.message}`;
}

function isDiskFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < SCARCE_BYTES;
  } catch {
    return false;
  }
}

function isAboutFile(thrown: Error): boolean {
  return primaryCode(thrown) !== null || errnoOf(thrown) !== null;
}

function primaryCode(thrown: Error): number | null {
  return 'errcode' in thrown && typeof thrown.errcode === 'number' ? thrown.errcode & 0xff : null;
}

function errnoOf(thrown: Error): string | null {
  return 'syscall' in thrown && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;
}
