import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpoolOutcome } from './plugin-io.ts';

const WRITABLE_BY_OTHERS = 0o022;
const AS_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export function spool(directory: string, name: string, text: string, maxFiles: number): SpoolOutcome {
  try {
    makeDirectory(directory);
    if (lstatSync(directory).isSymbolicLink()) return { kind: 'failed', why: `${directory} is a symbolic link` };
    return withOpen(directory, AS_DIRECTORY, (directoryFd) => {
      const objection = objectionTo(directoryFd);
      if (objection !== null) return { kind: 'failed', why: `${directory} ${objection}` };
      const outcome = putFile(directory, name, text, maxFiles);
      fsyncSync(directoryFd);
      return outcome;
    });
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** A new directory is only there after a crash if its parent was synced too. */
function makeDirectory(directory: string): void {
  const firstMade = mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  for (let made = directory; made.length >= firstMade.length; made = dirname(made)) {
    withOpen(dirname(made), constants.O_RDONLY | constants.O_DIRECTORY, fsyncSync);
  }
}

/** Root would otherwise write where somebody else decides what happens to it. */
function objectionTo(fd: number): string | null {
  const { uid, mode } = fstatSync(fd);
  if (uid !== process.geteuid?.()) return `belongs to user ${uid}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'may be written by others';
  return null;
}

function putFile(directory: string, name: string, text: string, maxFiles: number): SpoolOutcome {
  const path = join(directory, name);
  if (existsSync(path)) return { kind: 'exists' };
  const files = readdirSync(directory).length;
  if (files >= maxFiles) return { kind: 'full', files };
  const unfinished = join(directory, `.${name}.${process.pid}`);
  rmSync(unfinished, { force: true });
  try {
    withOpen(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (fd) => {
      writeFileSync(fd, text);
      fsyncSync(fd);
    });
    linkSync(unfinished, path);
    return { kind: 'written' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return { kind: 'exists' };
    throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function withOpen<Result>(path: string, flags: number, use: (fd: number) => Result): Result {
  const fd = openSync(path, flags, 0o600);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
