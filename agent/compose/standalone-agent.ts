import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { Spool } from '#agent/debts/spool.ts';
import { LastGoodFiles } from '#agent/host/last-good-files.ts';
import { PoolDirectory } from '#agent/host/pool-directory.ts';
import { drainSpool } from '#agent/release/drain-spool.ts';
import { buildServer } from '#agent/serve/server.ts';
import { stopServing } from '#agent/serve/stop-serving.ts';
import { listenOn, takeHost } from '#agent/serve/take-host.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite/sqlite-ledger.ts';
import { composeStandalone, loadIndex } from './compose-standalone.ts';
import { openProber } from './open-prober.ts';
import { openSight } from './open-sight.ts';
import { repeat } from './repeat.ts';

const DRAIN_EVERY_MS = 2_000;
const SHORTEST_LOOK_MS = 500;

export interface StandaloneConfig {
  readonly poolsDirectory: string;
  readonly dataDirectory: string;
  readonly spoolDirectory: string;
  readonly socketPath: string;
  readonly node: string;
  readonly exhaustedWaitMs: number;
  readonly collectAfterMs: number;
  readonly probeSettings: ProbeSettings;
}

/** Starts the agent of a host without Kubernetes. Returns when it serves; disposing stops it. */
export async function startStandaloneAgent(
  config: StandaloneConfig,
  log: Logger,
  failpoint?: Failpoint,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  await takeHost(config, starting);
  const prober = openProber(config.probeSettings, starting, log);
  const sight = await openSight(starting, log);
  const ledger = await openSqliteLedger(join(config.dataDirectory, 'ledger.db'));
  starting.defer(() => ledger.close());
  const index = await loadIndex(ledger);
  const lastGood = new LastGoodFiles(join(config.dataDirectory, 'pools'));
  const domainsInUse = () => new Map(index.all().map(({ spec }) => [spec.pool.name, spec.domain]));
  const catalog = starting.use(await PoolDirectory.open(config.poolsDirectory, { lastGood, domainsInUse, log }));
  const spool = new Spool(config.spoolDirectory);
  await spool.prepare();
  await spool.removeUnfinished(new Date());

  const { agent, releaser, collector, stopWaiting } = composeStandalone({
    ...config,
    sight,
    prober,
    // Writes of one turn share a transaction here: the more there are, the fewer times the disk is waited for.
    mostCreates: Number.POSITIVE_INFINITY,
    ledger,
    index,
    catalog,
    spool,
    log,
    failpoint,
  });
  const failed = new Set<string>();
  const drain = () => drainSpool(spool, releaser, log, { failed });
  await drain();
  agent.readiness.become();
  const server = buildServer(agent, log);
  await listenOn(server, config.socketPath);
  starting.defer(() => stopServing(server, config.socketPath));
  starting.defer(stopWaiting);
  starting.defer(() => agent.readiness.stop());
  log.info({ socket: config.socketPath, node: config.node }, 'agent listening');

  const report = (task: string) => (thrown: unknown) =>
    log.error({ task, why: toIpamError(thrown).message }, 'background task failed');
  starting.use(repeat(() => DRAIN_EVERY_MS, drain, report('drain the spool')));
  const pauseMs = () => Math.max(SHORTEST_LOOK_MS, collector.untilNextMs(lookEveryMs(config)));
  starting.use(repeat(pauseMs, () => collector.collect(false), report('collect leftovers')));
  return starting.move();
}

function lookEveryMs({ collectAfterMs }: StandaloneConfig): number {
  return Math.max(SHORTEST_LOOK_MS, Math.min(30_000, collectAfterMs / 2));
}
