import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { isNetns } from './libc.ts';
import { refuseNetnsPath } from './netns-path.ts';
import { NetnsFailure } from './probe-failure.ts';

export interface NetnsFile extends Disposable {
  readonly fd: number;
  /** Whether the path still leads to this namespace. Call it while a descriptor keeps the namespace alive. */
  readonly isInPlace: () => boolean;
}

export function openNetnsFile(path: string, directories: readonly string[]): NetnsFile {
  const refusal = refuseNetnsPath(path, directories);
  if (refusal !== null) throw new NetnsFailure(`network namespace ${path} ${refusal}`);
  const fd = open(path);
  const { dev, ino } = fstatSync(fd);
  const close = () => closeSync(fd);
  if (!isNetns(fd)) {
    close();
    throw new NetnsFailure(`${path} is not a network namespace`);
  }
  const isInPlace = () => {
    const now = identityOf(path);
    return now?.dev === dev && now.ino === ino;
  };
  return { fd, isInPlace, [Symbol.dispose]: close };
}

/** Null if it is unknown: the process of this namespace may be ending. */
function identityOf(path: string): { dev: number; ino: number } | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function open(path: string): number {
  try {
    // Not blocking: a pipe in its place must not stop the agent.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`;
    throw new NetnsFailure(`network namespace ${path} ${why}`, { cause });
  }
}
