import { unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketServer } from './socket-server.ts';

const LOOK_EVERY_MS = 20;
/** How long callers that have just connected have to send their request. `close` waits for requests that are under way then. */
const PATIENCE_MS = 2_000;
/** An ADD may be under way for 30 s. Kubelet waits for 40 s in all (deploy/agent.yaml). */
const DRAIN_MS = 25_000;

/**
 * A restart must fail no pod and take no node down. While calls are under way, callers are still answered, STATUS above all: the
 * next agent cannot start before this one has ended. Then the socket goes: a new caller finds none and tries again, and a caller that
 * had connected is answered. `close` alone would cut those that were not accepted yet.
 */
export async function stopServing(server: SocketServer, socketPath: string, drainMs = DRAIN_MS): Promise<void> {
  await until(() => server.countUnderWay() === 0, drainMs);
  await unlink(socketPath).catch(() => {}); // gone already, or the next start makes room
  await sleep(LOOK_EVERY_MS);
  await until(async () => (await server.countConnections()) === 0, PATIENCE_MS);
  await server.close();
}

async function until(isDone: () => boolean | Promise<boolean>, mostMs: number): Promise<void> {
  const giveUpAtMs = performance.now() + mostMs;
  while (!(await isDone()) && performance.now() < giveUpAtMs) await sleep(LOOK_EVERY_MS);
}
