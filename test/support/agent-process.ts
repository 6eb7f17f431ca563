import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFailed } from 'vitest';
import { endBy, startReady } from './agent-life.ts';
import { builtPath, launchEnvironment } from './built.ts';
import { type Finished, runProgram } from './run-program.ts';

interface AgentSetting {
  /** File name in the pool directory to YAML. */
  readonly pools: Readonly<Record<string, string>>;
  /** More flags, e.g. `--exhausted-wait 1`. */
  readonly flags?: readonly string[];
  /** A program with arguments that starts the agent, e.g. with fewer rights. */
  readonly under?: readonly string[];
}

export interface AgentProcess extends AsyncDisposable {
  readonly socket: string;
  readonly poolsDirectory: string;
  readonly dataDirectory: string;
  readonly spoolDirectory: string;
  /** The variables by which the plugin finds this agent. */
  readonly env: Readonly<Record<string, string>>;
  /** Its whole log, over all restarts. */
  readonly log: string;
  readonly pid: number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
  /** Starts it again on the same directories, after `kill` or `stop`, or stops it first. */
  restart(): Promise<void>;
  writePool(file: string, yaml: string): Promise<void>;
  ctl(...args: readonly string[]): Promise<Finished>;
}

/** The built agent, standalone, in its own directory; resolves when it is ready. */
export async function startAgent({ pools, flags = [], under = [] }: AgentSetting): Promise<AgentProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-agent-'));
  const at = (name: string) => join(directory, name);
  const socket = at('agent.sock');
  const files = ['--pools', at('pools'), '--data', at('data'), '--socket', socket, '--spool', at('spool')];
  const args = ['--standalone', ...files, '--node', hostname(), '--log-level', 'debug', ...flags];
  const log: string[] = [];
  const writePool = (file: string, yaml: string) => writeFile(join(at('pools'), file), yaml);
  await mkdir(at('pools'));
  for (const [file, yaml] of Object.entries(pools)) await writePool(file, yaml);

  const start = async () => {
    const [program = '', ...words] = [...under, await builtPath('ipledger-agent'), ...args];
    return await startReady(program, words, socket, log);
  };
  let child = await start().catch(async (thrown) => {
    await rm(directory, { recursive: true, force: true });
    throw thrown;
  });
  const stop = () => endBy(child, 'SIGTERM', log);
  showOnFailure(log);
  return {
    socket,
    poolsDirectory: at('pools'),
    dataDirectory: at('data'),
    spoolDirectory: at('spool'),
    env: { IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: at('spool') },
    get log() {
      return log.join('');
    },
    get pid() {
      return child.pid ?? Number.NaN;
    },
    kill: async () => void (await endBy(child, 'SIGKILL', log)),
    stop,
    async restart() {
      await stop();
      child = await start();
    },
    writePool,
    ctl: async (...words) =>
      runProgram(await builtPath('ipledgerctl'), ['--socket', socket, ...words], { env: launchEnvironment() }),
    async [Symbol.asyncDispose]() {
      await endBy(child, 'SIGKILL', log);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Outside a test, e.g. in a hook that starts one agent for many tests, the log cannot be attached and is left out. */
function showOnFailure(log: string[]): void {
  try {
    onTestFailed(() => void process.stderr.write(`The agent's log:\n${log.join('')}\n`));
  } catch {
    return;
  }
}
