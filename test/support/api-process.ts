import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isListening } from './api-ports.ts';
import { waitUntilStopped } from './wait-until-stopped.ts';

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
}

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly logFile: string;
  isReady(): Promise<boolean>;
}

const READY_TIMEOUT_MS = 90_000;

/** Resolves when the new process itself listens on its port and is ready; otherwise kills it and throws the end of its log. */
export async function startServerProcess(command: ServerCommand): Promise<ServerProcess> {
  const server = await spawnLogged(command);
  try {
    await waitUntilReady(server, command);
    return server;
  } catch (cause) {
    await server.kill();
    const log = (await readFile(command.logFile, 'utf8')).trimEnd().split('\n').slice(-15).join('\n');
    throw new Error(`${command.program} did not become ready\n${log}`, { cause });
  }
}

async function spawnLogged({
  program,
  args,
  logFile,
}: ServerCommand): Promise<ServerProcess & { hasExited(): boolean }> {
  await using log = await open(logFile, 'a');
  // With --pdeathsig the kernel ends the server when this process dies for any reason.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: ['ignore', log.fd, log.fd] });
  await once(child, 'spawn');
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async () => {
    if (hasExited()) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    pid: child.pid ?? Number.NaN,
    hasExited,
    pause: () => {
      child.kill('SIGSTOP');
      waitUntilStopped(child.pid ?? 0);
    },
    resume: () => void child.kill('SIGCONT'),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

async function waitUntilReady(server: { pid: number; hasExited(): boolean }, command: ServerCommand): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (server.hasExited()) throw new Error('it exited');
    const listening = await isListening(server.pid, command.port).catch(() => false);
    if (listening && (await command.isReady().catch(() => false))) return;
    await sleep(50);
  }
  throw new Error(`not ready after ${READY_TIMEOUT_MS} ms`);
}
