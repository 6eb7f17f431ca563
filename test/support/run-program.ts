import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Finished {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramSetting {
  /** The whole environment; this process's own when absent. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

/** Runs a program to its end and returns its exit code; throws only if it cannot be started. */
export async function runProgram(
  program: string,
  args: readonly string[],
  setting: ProgramSetting = {},
): Promise<Finished> {
  const { env, stdin = '', timeoutMs = TIMEOUT_MS } = setting;
  const child = spawn(program, args, { ...(env ? { env } : {}), timeout: timeoutMs, killSignal: 'SIGKILL' });
  // A program that ends without reading its input closes the pipe.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

/** The same for steps that must succeed: any failure throws. */
export async function mustRun(program: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args);
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${code}: ${stderr.trim()}`);
  return stdout;
}
