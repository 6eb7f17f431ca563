import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

export type Installed = 'installed' | 'unchanged' | 'left-alone';

export interface InstallWish {
  readonly from: string;
  /** The file itself, not its directory. */
  readonly to: string;
  /** Do nothing if another plugin has this name already. */
  readonly onlyIfAbsent?: boolean;
}

const MAX_BYTES = 256 * 1024 * 1024;
const MODE = 0o755;

/**
 * Copies the executable into the directory of the container runtime. The runtime may start it at any moment, so it is
 * never missing or partial: a new file beside it is written with fsync and renamed over it. It is never removed.
 */
export async function installPlugin({ from, to, onlyIfAbsent = false }: InstallWish): Promise<Installed> {
  try {
    const content = await readPlain(from);
    const present = await kindOf(to);
    if (present === 'directory') throw new IpamError('bad-config', `${to} is a directory`);
    if (present !== 'absent' && onlyIfAbsent) return 'left-alone';
    if (present === 'file' && (await isSame(to, content))) return 'unchanged';
    await replace(to, content);
    return 'installed';
  } catch (thrown) {
    const message = `${from} cannot be installed as ${to}: ${toIpamError(thrown).message}`;
    throw new IpamError(thrown instanceof IpamError ? thrown.reason : 'io-failure', message, { cause: thrown });
  }
}

/** A text that every form and version of our plugin contains: the variable with the path of the socket. */
const MARK = 'IPLEDGER_SOCKET';

/** False when there is no readable plain file. */
export async function isOurPlugin(path: string): Promise<boolean> {
  const content = await readPlain(path).catch(() => null);
  return content?.includes(MARK) ?? false;
}

async function replace(to: string, content: Buffer): Promise<void> {
  const directory = dirname(to);
  const temporary = join(directory, `.${basename(to)}.${randomBytes(6).toString('hex')}`);
  try {
    await write(temporary, content);
    await rename(temporary, to);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await using parent = await open(directory, constants.O_RDONLY);
  await parent.sync();
}

/** Closed before the rename: the kernel does not execute a file that is open for writing. */
async function write(path: string, content: Buffer): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(content);
  await file.chmod(MODE);
  await file.sync();
}

async function isSame(path: string, content: Buffer): Promise<boolean> {
  await using file = await openPlain(path);
  const { mode, size } = await file.stat();
  return size === content.length && (mode & 0o777) === MODE && content.equals(await file.readFile());
}

async function readPlain(path: string): Promise<Buffer> {
  await using file = await openPlain(path);
  const { size } = await file.stat();
  if (size === 0 || size > MAX_BYTES) throw new IpamError('bad-config', `${path} has ${size} bytes`);
  return await file.readFile();
}

async function openPlain(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new IpamError('bad-config', `${path} is not a plain file`);
}

/** A link is replaced, not followed: its target may belong to another program. */
async function kindOf(path: string): Promise<'absent' | 'directory' | 'file' | 'other'> {
  try {
    const found = await lstat(path);
    if (found.isDirectory()) return 'directory';
    return found.isFile() ? 'file' : 'other';
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw thrown;
  }
}
