import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Namespaces of its own with a process 1 in them. The kernel removes everything inside with that process: all other processes,
 * links, mounts. And process 1 ends with the process that started the machine, however that one ends.
 */
export interface Machine extends AsyncDisposable {
  /** Process 1 of the machine, as this process sees it. */
  readonly pid: number;
  /** Cuts the power. */
  kill(): Promise<void>;
}

const READY = 'machine ready';
/** Process 1 also has to wait for orphans, or they stay as zombies: bash does so while it waits for `sleep`. */
const LIVE = `echo '${READY}'; while :; do sleep 3600; done`;
const READY_TIMEOUT_MS = 60_000;

/** `setUp` is a bash script that runs as process 1 before the machine is ready. */
export async function startMachine(setUp: string, logFile: string): Promise<Machine> {
  await using log = await open(logFile, 'a');
  const unshare = ['unshare', '--net', '--uts', '--ipc', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const bash = ['bash', '-euc', `${setUp}\n${LIVE}`];
  // In a session of its own, so that Ctrl-C in a terminal reaches only the process that tears down in order.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...unshare, ...bash], {
    detached: true,
    stdio: ['ignore', 'pipe', log.fd],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  };
  try {
    await untilReady(child, exited, logFile);
    const pid = await onlyChildOf(child.pid ?? 0);
    const killAll = async () => {
      await kill();
      // unshare is gone; the kernel ends process 1, which ends only when all others of its namespace have ended.
      await untilGone(pid);
    };
    return { pid, kill: killAll, [Symbol.asyncDispose]: killAll };
  } catch (thrown) {
    await kill();
    throw thrown;
  }
}

async function untilReady(child: ChildProcess, exited: Promise<unknown>, logFile: string): Promise<void> {
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const ready = new Promise<'ready'>((resolve) => lines.on('line', (line) => line === READY && resolve('ready')));
  const limit = new AbortController();
  const outcome = await Promise.race([
    ready,
    exited.then(() => 'exited' as const),
    sleep(READY_TIMEOUT_MS, 'slow' as const, { signal: limit.signal }),
  ]);
  limit.abort();
  if (outcome !== 'ready') throw new Error(`a machine did not start (${outcome}): ${await readFile(logFile, 'utf8')}`);
}

/** The process that `unshare --fork` or `nsenter --pid` started. */
export async function onlyChildOf(pid: number): Promise<number> {
  for (let look = 0; look < 1_000; look += 1) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const [child] = children.trim().split(' ');
    if (child) return Number(child);
    await sleep(10);
  }
  throw new Error(`process ${pid} has no child`);
}

async function untilGone(pid: number): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (stat === null) return;
    await sleep(10);
  }
  throw new Error(`process ${pid} of a machine does not end`);
}

/** The words before a command that runs in the machine's network alone, or in all of the machine. */
export const inNetworkOf = (pid: number): string[] => ['nsenter', `--net=/proc/${pid}/ns/net`];
export const insideOf = (pid: number): string[] => [
  ...['nsenter', `--target=${pid}`, '--net', '--uts', '--ipc', '--mount', '--pid'],
];
