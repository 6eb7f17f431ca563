import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { insideOf, onlyChildOf } from './machine.ts';

/** A program that runs inside a machine, until it is killed or the machine is. */
export interface Daemon extends AsyncDisposable {
  readonly pid: number;
  kill(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

export async function startDaemon(
  machine: number,
  command: readonly string[],
  logFile: string,
  env: Readonly<Record<string, string>>,
): Promise<Daemon> {
  await using log = await open(logFile, 'a');
  const [program = '', ...args] = insideOf(machine);
  const child = spawn(program, [...args, ...command], { detached: true, stdio: ['ignore', log.fd, log.fd], env });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  // nsenter stays as the parent and passes no signal on.
  const pid = await Promise.race([
    onlyChildOf(child.pid ?? 0),
    exited.then(() => Promise.reject(new Error(`${command[0]} ended at once, see ${logFile}`))),
  ]);
  const kill = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL') => {
    if (child.exitCode === null && child.signalCode === null) signalOrIgnore(pid, signal);
    await exited;
  };
  return { pid, kill, [Symbol.asyncDispose]: () => kill() };
}

function signalOrIgnore(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has just ended
  }
}
