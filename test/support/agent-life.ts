import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { launchEnvironment } from './built.ts';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;

/** Resolves when the new process reports on its socket that it is ready; otherwise ends it and throws its log. */
export async function startReady(
  program: string,
  args: string[],
  socket: string,
  log: string[],
  more: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const env = { ...launchEnvironment(), ...more };
  // With --pdeathsig the kernel ends it when this process dies for any reason.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { env });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && !hasEnded(child)) {
    if (await isReady(socket)) return child;
    await sleep(20);
  }
  const what = hasEnded(child) ? `ended with ${child.exitCode ?? child.signalCode}` : 'did not become ready';
  await endBy(child, 'SIGKILL', log);
  throw new Error(`The agent ${what}. Its log:\n${log.join('')}`);
}

function isReady(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request({ socketPath, path: PATHS.status, agent: false, timeout: 1000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(false));
    call.end();
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Sends the signal, waits for the end, returns the exit code. Also works for a process that has ended already. */
export async function endBy(child: ChildProcess, signal: NodeJS.Signals, log: string[]): Promise<number | null> {
  if (hasEnded(child)) return child.exitCode;
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
  child.kill(signal);
  try {
    await ended;
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`The agent did not end within ${STOP_TIMEOUT_MS} ms of ${signal}. Its log:\n${log.join('')}`, {
      cause,
    });
  }
  return child.exitCode;
}
