import { unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketServer } from './socket-server.ts';

const LOOK_EVERY_MS = 20;
/** For callers that have just connected; what is under way then, `close` waits for. */
const PATIENCE_MS = 2_000;

/**
 * A restart must not fail a pod: from now on a caller finds no socket and tries again, and whoever had connected is
 * answered. `close` alone would cut those that were not accepted yet.
 */
export async function stopServing(server: SocketServer, socketPath: string): Promise<void> {
  await unlink(socketPath).catch(() => {}); // gone already, or the next start makes room
  const giveUpAtMs = performance.now() + PATIENCE_MS;
  do await sleep(LOOK_EVERY_MS);
  while ((await server.countConnections()) > 0 && performance.now() < giveUpAtMs);
  await server.close();
}
