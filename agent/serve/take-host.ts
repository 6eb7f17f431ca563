import { dirname } from 'node:path';
import { makeDirectory, refuseForeignDirectory } from '#agent/node/private-directory.ts';
import { lockDataDirectory, lockSocketPath } from '#pkg/ledger/sqlite/agent-lock.ts';
import { prepareSocketPath } from './socket-path.ts';
import type { SocketServer } from './socket-server.ts';

export interface HostPlaces {
  readonly dataDirectory: string;
  readonly socketPath: string;
}

/** First of all: nothing is read or changed while another agent may be at work here. */
export async function takeHost(places: HostPlaces, starting: AsyncDisposableStack): Promise<void> {
  const { dataDirectory, socketPath } = places;
  await makeDirectory(dataDirectory);
  await refuseForeignDirectory(dataDirectory);
  starting.use(lockDataDirectory(dataDirectory));
  await makeDirectory(dirname(socketPath));
  starting.use(lockSocketPath(socketPath));
  await prepareSocketPath(socketPath);
}

/** The socket is made with mode 0600: no moment in which others could connect. */
export async function listenOn(server: SocketServer, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    await server.listen(path);
  } finally {
    process.umask(before);
  }
}
