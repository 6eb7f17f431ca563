import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { makeDirectory, refuseForeignDirectory } from '#agent/node/private-directory.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/**
 * Makes room for the agent's socket: its directory (0700 where it is made here, else not writable by others), and no file
 * in the way, unless a process answers on it. The caller holds the lock of the socket, so no other agent does the same now.
 */
export async function prepareSocketPath(path: string): Promise<void> {
  await makeDirectory(dirname(path));
  await refuseForeignDirectory(dirname(path));
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) throw new IpamError('bad-config', `${path} exists and is not a socket; it is left alone`);
  if (await isAnswered(path)) throw new IpamError('bad-config', `another agent answers on ${path}`);
  await unlink(path);
}

async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.setTimeout(2_000, () => resolve(true));
  socket.once('connect', () => resolve(true));
  // Only these two mean that no process listens; a full queue, for one, means that one does.
  socket.once('error', (error: NodeJS.ErrnoException) =>
    resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
  );
  return await promise.finally(() => socket.destroy());
}
