import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { lockDataDirectory } from '#pkg/ledger/data-directory-lock.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite-ledger.ts';
import { Agent } from '../agent.ts';
import { Allocator } from '../allocate/allocator.ts';
import { FamilyTaker } from '../allocate/family-taker.ts';
import { FreedWaiters } from '../allocate/freed-waiters.ts';
import { PoolViews } from '../allocate/pool-views.ts';
import { Reattachment } from '../allocate/reattachment.ts';
import { Gate } from '../gate.ts';
import { Inspector } from '../inspect/inspector.ts';
import { KeyedQueue } from '../keyed-queue.ts';
import { NodeIndex } from '../node-index.ts';
import type { PoolCatalog } from '../pool-catalog.ts';
import { drainSpool } from '../release/drain-spool.ts';
import { GiveBack } from '../release/give-back.ts';
import { Releaser } from '../release/releaser.ts';
import { Spool } from '../release/spool.ts';
import { buildServer } from '../server.ts';
import { prepareSocketPath } from '../socket-path.ts';
import type { ReachStep } from '../steps.ts';
import { Collector } from './collector.ts';
import { ContainerHolders } from './container-holders.ts';
import { PoolDirectory } from './pool-directory.ts';
import { repeat } from './repeat.ts';

const WORKING = { working: 64, queued: 1_000 };
const MOST_WAITERS = 256;
const EARLIER_BOOT_MS = 5 * 60_000;
const DRAIN_EVERY_MS = 2_000;

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

  const { agent, releaser, collector } = await composeAgent(config, ledger, catalog, spool, log, reach);
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

async function composeAgent(
  config: StandaloneConfig,
  ledger: Ledger,
  catalog: PoolCatalog,
  spool: Spool,
  log: Logger,
  reach: ReachStep,
) {
  const nowMs = () => performance.now();
  const now = () => new Date();
  const options = { enableIPv4: true, enableIPv6: true, enableSubnets: false, agentNamespace: '' };
  const index = new NodeIndex(nowMs);
  for (const record of await ledger.byNode(config.node)) index.put(record);
  const queue = new KeyedQueue();
  const views = new PoolViews(catalog, ledger, config.node);
  const holders = new ContainerHolders(config.node, config.bootID);
  const giveBack = new GiveBack({ ledger, index, views, catalog, now, reach });
  const releaser = new Releaser({ index, giveBack, spool, queue, reach });
  const waiters = new FreedWaiters(ledger, catalog, MOST_WAITERS);
  const { exhaustedWaitMs } = config;
  const taker = new FamilyTaker({ ledger, index, views, waiters, giveBack, exhaustedWaitMs, nowMs, reach });
  const reattachment = new Reattachment({ ledger, index, giveBack });
  const gate = new Gate(WORKING);
  const allocator = new Allocator({
    catalog,
    holders,
    index,
    reattachment,
    taker,
    spool,
    gate,
    queue,
    options,
    reach,
    log,
  });
  const patience = { netnsGoneMs: config.collectAfterMs, earlierBootMs: EARLIER_BOOT_MS };
  const collector = new Collector({ index, releaser, bootID: config.bootID, patience, nowMs, now, log });
  const inspector = new Inspector({ ledger, catalog, views, holders, spool, options });
  const collect = (dryRun: boolean) => collector.collect(dryRun);
  const agent = new Agent({ ledger, index, allocator, releaser, giveBack, inspector, collect, log });
  return { agent, releaser, collector };
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
