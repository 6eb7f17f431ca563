import { hostname } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Logger } from 'pino';
import { readLogLevel } from '#agent/compose/agent-env.ts';
import { startStandaloneAgent } from '#agent/compose/standalone-agent.ts';
import { type InstallPlan, installInto } from '#agent/install/install-into.ts';
import { DEFAULT_SOCKET, DEFAULT_SPOOL } from '#pkg/agentapi/paths.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { heapLimitMb } from '#pkg/log/heap-limit.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '#pkg/log/logger.ts';
import { VERSION } from '#pkg/text/version.ts';

interface InstallFlags {
  readonly from: string;
  readonly to: string;
  readonly asSpiderpool: InstallPlan['asSpiderpool'];
}

interface Flags {
  readonly standalone: boolean;
  readonly pools: string;
  readonly data: string;
  readonly socket?: string;
  readonly config: string;
  readonly kubeconfig?: string;
  readonly spool: string;
  readonly node: string;
  readonly exhaustedWait: number;
  readonly collectAfter: number;
  readonly detectConflicts: boolean;
  readonly detectGateway: boolean;
  readonly probeWindow: number;
  readonly probeCount: number;
  readonly quarantine: number;
  readonly onConflict: 'next' | 'block';
  readonly logLevel?: LogLevel;
}

const IN_CLUSTER: readonly (keyof Flags)[] = ['config', 'kubeconfig'];
const EVERYWHERE: readonly (keyof Flags)[] = ['standalone', 'data', 'socket', 'spool', 'logLevel'];

const program = new Command('ipledger-agent')
  .version(VERSION)
  .description(
    'The node daemon of ipledger: answers the CNI plugin on a Unix socket and keeps the ledger of addresses.',
  )
  .option('--standalone', 'run without Kubernetes: pools from files, ledger in SQLite', false)
  .option('--data <dir>', 'directory of ledger or journal; one agent per directory', '/var/lib/ipledger')
  .option('--socket <path>', `Unix socket to serve (default: that of conf.yml in a cluster, else ${DEFAULT_SOCKET})`)
  .option('--spool <dir>', 'where the plugin leaves DELs while no agent listens', DEFAULT_SPOOL)
  .addOption(
    new Option(
      '--log-level <level>',
      'least severe level that is logged (default: SPIDERPOOL_LOG_LEVEL, else info)',
    ).choices(LOG_LEVELS),
  )
  .optionsGroup('In a cluster; everything else is in conf.yml and in the environment:')
  .option('--config <file>', 'conf.yml of the cluster (ConfigMap spiderpool-conf)', '/etc/ipledger/conf.yml')
  .option('--kubeconfig <file>', 'how to reach the API server (default: the service account of the pod)')
  .optionsGroup('With --standalone:')
  .option(
    '--pools <dir>',
    'directory of SpiderIPPool and SpiderReservedIP files (YAML), reloaded on change',
    '/etc/ipledger/pools',
  )
  .option('--node <name>', 'name of this node in the records', hostname())
  .option('--exhausted-wait <seconds>', 'how long an ADD waits for an address of a full pool', parseSeconds, 10)
  .option(
    '--collect-after <seconds>',
    'how long a network namespace must be gone before its address is freed',
    parseSeconds,
    60,
  )
  .option('--detect-conflicts', 'probe an address by ARP or NDP before it is given out', false)
  .option('--detect-gateway', 'refuse an ADD whose gateway does not answer', false)
  .option('--probe-window <ms>', 'how long answers to a probe are waited for', parseWithin(20, 2_000), 100)
  .option('--probe-count <n>', 'how many probes are sent within the window', parseWithin(1, 10), 3)
  .option(
    '--quarantine <seconds>',
    'how long an address that a foreign host uses is left alone',
    parseWithin(1, 604_800),
    900,
  )
  .addOption(
    new Option('--on-conflict <what>', 'try the next address, or fail the ADD')
      .choices(['next', 'block'])
      .default('next'),
  );

program.action(() => runAgent(program.opts<Flags>()));
program
  .command('install-plugin')
  .description('put the CNI plugin where the container runtime of this host looks for it, in one step')
  .requiredOption('--from <file>', 'the executable')
  .requiredOption('--to <dir>', 'the directory of CNI plugins')
  .addOption(
    new Option('--as-spiderpool <when>', 'install it under the name spiderpool too')
      .choices(['always', 'if-absent', 'never'])
      .default('if-absent'),
  )
  .action(installPlugin);

await program.parseAsync();

async function installPlugin({ from, to, asSpiderpool }: InstallFlags): Promise<void> {
  const log = createLogger('ipledger-agent', 'info');
  await failLoudly(log, () => installInto({ from, directory: to, asSpiderpool }, log));
}

async function runAgent(flags: Flags): Promise<void> {
  refuseUnused(flags);
  const isInPod = process.env['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (!(flags.standalone || isInPod) && flags.kubeconfig === undefined) {
    program.error(
      'this is no pod of a cluster, and no --kubeconfig is given; without Kubernetes start it with --standalone',
    );
  }
  const log = createLogger('ipledger-agent', flags.logLevel ?? levelOfEnvironment(flags));
  log.info({ heapMb: heapLimitMb() }, 'agent starting');
  await failLoudly(log, async () => {
    const agent = await (flags.standalone ? runStandalone(flags, log) : runCluster(flags, log));
    const signal = await nextSignal();
    log.info({ signal }, 'agent stopping');
    await agent[Symbol.asyncDispose]();
  });
}

/** A flag that would have no effect is refused before the agent starts. */
function refuseUnused({ standalone }: Flags): void {
  for (const option of program.options) {
    const name = option.attributeName() as keyof Flags;
    if (EVERYWHERE.includes(name) || program.getOptionValueSource(name) !== 'cli') continue;
    if (standalone && IN_CLUSTER.includes(name)) program.error(`${option.long} is for a cluster, not for --standalone`);
    if (!standalone && !IN_CLUSTER.includes(name))
      program.error(`${option.long} is for --standalone; in a cluster see conf.yml and the environment`);
  }
}

async function failLoudly(log: ReturnType<typeof createLogger>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    const { reason, message, details } = toIpamError(thrown);
    log.fatal({ reason, details, ...(reason === 'internal' ? { err: thrown } : {}) }, message);
    process.exitCode = 1;
  }
}

/** The code for a cluster is not loaded on a host without one: it costs 20 MB. */
async function runCluster(flags: Flags, log: Logger): Promise<AsyncDisposable> {
  const { runInCluster } = await import('./run-cluster.ts');
  return await runInCluster(flags, process.env, log);
}

/** An invalid level is reported later, when the whole environment is read. */
function levelOfEnvironment({ standalone }: Flags): LogLevel {
  try {
    return standalone ? 'info' : readLogLevel(process.env);
  } catch {
    return 'info';
  }
}

function runStandalone(flags: Flags, log: Logger): Promise<AsyncDisposable> {
  const config = {
    poolsDirectory: flags.pools,
    dataDirectory: flags.data,
    spoolDirectory: flags.spool,
    socketPath: flags.socket ?? DEFAULT_SOCKET,
    node: flags.node,
    exhaustedWaitMs: flags.exhaustedWait * 1000,
    collectAfterMs: flags.collectAfter * 1000,
    probeSettings: {
      detectConflict: flags.detectConflicts,
      detectGateway: flags.detectGateway,
      windowMs: flags.probeWindow,
      count: flags.probeCount,
      quarantineMs: flags.quarantine * 1000,
      onConflict: flags.onConflict,
    },
  };
  return startStandaloneAgent(config, log);
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}

function parseWithin(lowest: number, highest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= lowest && value <= highest) return value;
    throw new InvalidArgumentError(`expected a whole number from ${lowest} to ${highest}`);
  };
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds >= 0 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('expected a number of seconds from 0 to 3600');
}
