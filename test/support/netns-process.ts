import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync, statSync } from 'node:fs';
import { vi } from 'vitest';
import type { Netns } from './netns.ts';

export interface NetnsProcess extends AsyncDisposable {
  end(): Promise<void>;
}

/** A process that does nothing in a namespace, like the pause container of a pod. It ends with this process at the latest. */
export async function startIn(netns: Netns): Promise<NetnsProcess> {
  const args = ['--pdeathsig', 'KILL', 'nsenter', `--net=${netns.path}`, 'sleep', '3600'];
  const child = spawn('setpriv', args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const target = `net:[${statSync(netns.path).ino}]`;
  const isInside = () => readlinkSync(`/proc/${child.pid}/ns/net`) === target;
  await vi.waitUntil(isInside, { timeout: 60_000, interval: 20 });
  return { end, [Symbol.asyncDispose]: end };
}
