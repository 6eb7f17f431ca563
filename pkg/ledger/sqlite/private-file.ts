import { chmodSync, closeSync, openSync } from 'node:fs';

/**
 * Makes the file with mode 0600 if there is none, before SQLite would make it with the umask's.
 * A file that exists must not be opened: closing it again would drop the locks SQLite holds on it in this process.
 */
export function ensurePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if (!isErrno(thrown, 'EEXIST')) throw thrown;
    chmodSync(path, 0o600);
  }
}

export function makePrivateIfPresent(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (thrown) {
    if (!isErrno(thrown, 'ENOENT')) throw thrown;
  }
}

function isErrno(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}
