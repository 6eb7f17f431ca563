import { lstat, mkdir, stat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

/**
 * Makes room for the agent's socket: its directory (0700 where it is made here, else not writable by others),
 * and no file in the way, unless somebody answers on it.
 */
export async function prepareSocketPath(path: string): Promise<void> {
  await prepareDirectory(dirname(path));
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) throw new IpamError('bad-config', `${path} exists and is not a socket; it is left alone`);
  if (await isAnswered(path)) throw new IpamError('bad-config', `another agent answers on ${path}`);
  await unlink(path);
}

async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((thrown: unknown) => {
    throw new IpamError(
      'bad-config',
      `the socket's directory ${directory} cannot be made: ${toIpamError(thrown).message}`,
    );
  });
  const { uid, mode } = await stat(directory);
  const isOurs = uid === process.geteuid?.() || uid === 0;
  if (isOurs && (mode & 0o022) === 0) return;
  throw new IpamError(
    'bad-config',
    `the socket's directory ${directory} may be written by others (mode ${(mode & 0o7777).toString(8)}, owner ${uid}); it must be root's alone`,
  );
}

async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.setTimeout(2_000, () => resolve(true));
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return await promise.finally(() => socket.destroy());
}
