import { readdir, readFile } from 'node:fs/promises';
import { vi } from 'vitest';
import type { ApiServer } from '#test/support/api-server.ts';

/** Resolves when every thread is stopped: on a busy machine a server works on for a while after SIGSTOP. */
export async function pauseForSure(server: ApiServer): Promise<void> {
  server.pause();
  await vi.waitUntil(async () => (await threadStates(server.pid())).every((state) => state === 'T'), 10_000);
}

/** The 3rd field of stat, after the program's name, which may hold anything. */
async function threadStates(pid: number): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
  return stats.map((stat) => stat.slice(stat.lastIndexOf(')') + 2).charAt(0));
}
