import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { SpoolOutcome } from '#plugin/plugin-io.ts';

const WRITABLE_BY_OTHERS = 0o022;
const TO_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const AS_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export function spool(path: string, name: string, text: string, maxFiles: number): SpoolOutcome {
  // Behind a slash a symbolic link would be followed.
  const directory = path.replace(/(?:\/\.?)+$/, '') || '/';
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
  const missing: string[] = [];
  for (let at = directory; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at);
  // One by one: Node's recursive mkdir never ends below /proc.
  for (const path of missing) {
    tryMakeDirectory(path);
    withOpen(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY, fsyncSync);
  }
}

/** Another DEL may have made it in the same moment. */
function tryMakeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Root would otherwise write into a directory that another user controls. */
function objectionTo(fd: number): string | null {
  const { uid, mode } = fstatSync(fd);
  if (uid !== process.geteuid?.()) return `belongs to user ${uid}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) return 'may be written by others';
  return null;
}

function putFile(directory: string, name: string, text: string, maxFiles: number): SpoolOutcome {
  const path = join(directory, name);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const files = readdirSync(directory).length;
    if (files >= maxFiles) return { kind: 'full', files };
  } else if (!found.isFile()) {
    return { kind: 'failed', why: `${path} is not a plain file` };
  } else if (says(path, text)) {
    return again(path);
  }
  const unfinished = join(directory, `.${name}.${process.pid}`);
  rmSync(unfinished, { force: true });
  try {
    withOpen(unfinished, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (fd) => {
      writeFileSync(fd, text);
      fsyncSync(fd);
    });
    renameSync(unfinished, path);
    return { kind: 'written' };
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Whether it is a file of ours, as we would write it, with exactly this content. What cannot be read says nothing. */
function says(path: string, text: string): boolean {
  const expected = Buffer.from(text);
  try {
    return withOpen(path, TO_READ, (fd) => {
      const isOurs = objectionTo(fd) === null && fstatSync(fd).isFile() && fstatSync(fd).size === expected.length;
      return isOurs && readFileSync(fd).equals(expected);
    });
  } catch {
    return false;
  }
}

/** By its time the agent sees whether a call was spooled again since it looked. */
function again(path: string): SpoolOutcome {
  const now = new Date();
  lutimesSync(path, now, now);
  return { kind: 'exists' };
}

function withOpen<Result>(path: string, flags: number, use: (fd: number) => Result): Result {
  const fd = openSync(path, flags, 0o600);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
