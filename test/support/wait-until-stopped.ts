import { readdirSync, readFileSync } from 'node:fs';

const MOST_LOOKS = 5_000;

/**
 * One thread handles SIGSTOP, and on a busy machine the others run until then. Returns when all threads are stopped;
 * blocks this process, so that nothing happens in between.
 */
export function waitUntilStopped(pid: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const threads = readdirSync(`/proc/${pid}/task`);
    if (threads.every((thread) => isStopped(`/proc/${pid}/task/${thread}/stat`))) return;
    Atomics.wait(pause, 0, 0, 1);
  }
  throw new Error(`process ${pid} did not stop`);
}

/** The state follows the name, which may contain anything. */
function isStopped(path: string): boolean {
  return /^\) [Tt] /.test(readFileSync(path, 'utf8').replace(/^.*(?=\) )/s, ''));
}
