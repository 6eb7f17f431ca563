import { execFileSync } from 'node:child_process';
import { makeTemporaryDirectory } from './temporary-directory.ts';

export interface Tmpfs extends Disposable {
  readonly path: string;
  grow(size: string): void;
}

/** A separate file system that is small enough to be filled. Needs root; throws without it. */
export function mountTmpfs(size: string): Tmpfs {
  const directory = makeTemporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory.path], { stdio: 'pipe' });
  } catch (thrown) {
    directory[Symbol.dispose]();
    throw new Error('this test needs to mount a tmpfs: run it as root', { cause: thrown });
  }
  return {
    path: directory.path,
    grow: (newSize) => {
      execFileSync('mount', ['-o', `remount,size=${newSize}`, directory.path]);
    },
    [Symbol.dispose]: () => {
      execFileSync('umount', ['--lazy', directory.path]);
      directory[Symbol.dispose]();
    },
  };
}
