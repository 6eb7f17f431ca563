import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { lockDataDirectory } from '#pkg/ledger/data-directory-lock.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite-ledger.ts';
import { drainSpool } from '../release/drain-spool.ts';
import { Spool } from '../release/spool.ts';
import { buildServer } from '../server.ts';
import { prepareSocketPath } from '../socket-path.ts';
import type { ReachStep } from '../steps.ts';
import { composeAgent } from './compose-agent.ts';
import { PoolDirectory } from './pool-directory.ts';
import { repeat } from './repeat.ts';

const DRAIN_EVERY_MS = 2_000;
const UNFINISHED_AFTER_MS = 3_600_000;

export interface StandaloneConfig {
  readonly poolsDirectory: string;
  readonly dataDirectory: string;
  readonly spoolDirectory: string;
  readonly socketPath: string;
  readonly node: string;
  readonly bootID: string;
  readonly exhaustedWaitMs: number;
  readonly collectAfterMs: number;
}

/** Everything one agent needs on a host without Kubernetes. Returns once it serves; disposing it stops it cleanly. */
export async function startStandaloneAgent(
  config: StandaloneConfig,
  log: Logger,
  reach: ReachStep,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });
  starting.use(lockDataDirectory(config.dataDirectory));
  const catalog = starting.use(await PoolDirectory.open(config.poolsDirectory, log));
  const ledger = await openSqliteLedger(join(config.dataDirectory, 'ledger.db'));
  starting.defer(() => ledger.close());
  const spool = new Spool(config.spoolDirectory);
  await spool.prepare();
  await spool.removeUnfinished(new Date(Date.now() - UNFINISHED_AFTER_MS));

  const { agent, releaser, collector } = await composeAgent({ ...config, ledger, catalog, spool, log, reach });
  await drainSpool(spool, releaser, log);
  agent.becomeReady();
  const server = buildServer(agent, log);
  await listen(server, config.socketPath);
  starting.defer(() => server.close());
  log.info({ socket: config.socketPath, node: config.node }, 'agent serves');

  const report = (task: string) => (thrown: unknown) =>
    log.error({ task, why: toIpamError(thrown).message }, 'background task failed');
  starting.use(repeat(DRAIN_EVERY_MS, () => drainSpool(spool, releaser, log), report('drain the spool')));
  starting.use(repeat(lookEveryMs(config), () => collector.collect(false), report('collect leftovers')));
  return starting.move();
}

/** The socket is made with mode 0600: no moment in which others could connect. */
async function listen(server: FastifyInstance, path: string): Promise<void> {
  await prepareSocketPath(path);
  const before = process.umask(0o177);
  try {
    await server.listen({ path });
  } finally {
    process.umask(before);
  }
}

function lookEveryMs({ collectAfterMs }: StandaloneConfig): number {
  return Math.max(500, Math.min(30_000, collectAfterMs / 2));
}
