import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { lockDataDirectory, lockSocketPath } from '#pkg/ledger/agent-lock.ts';
import { openSqliteLedger } from '#pkg/ledger/sqlite-ledger.ts';
import type { ProbeSettings } from '../allocate/address-probe.ts';
import { makeDirectory, refuseForeignDirectory } from '../private-directory.ts';
import { checkProbeCapabilities } from '../probe/capabilities.ts';
import type { AnnounceTarget } from '../probe/probe-target.ts';
import { Prober } from '../probe/prober.ts';
import { drainSpool } from '../release/drain-spool.ts';
import { Spool } from '../release/spool.ts';
import { repeat } from '../repeat.ts';
import { buildServer } from '../server.ts';
import { prepareSocketPath } from '../socket-path.ts';
import type { ReachStep } from '../steps.ts';
import { composeStandalone, loadIndex } from './compose-standalone.ts';
import { LastGoodFiles } from './last-good-files.ts';
import { PoolDirectory } from './pool-directory.ts';

const DRAIN_EVERY_MS = 2_000;
const SHORTEST_LOOK_MS = 500;
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
  readonly probeSettings: ProbeSettings;
}

/** Everything one agent needs on a host without Kubernetes. Returns once it serves; disposing it stops it cleanly. */
export async function startStandaloneAgent(
  config: StandaloneConfig,
  log: Logger,
  reach: ReachStep,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  await takeHost(config, starting);
  const prober = openProber(config.probeSettings, log);
  if (prober !== null) starting.use(prober);
  const ledger = await openSqliteLedger(join(config.dataDirectory, 'ledger.db'));
  starting.defer(() => ledger.close());
  const index = await loadIndex(ledger);
  const lastGood = new LastGoodFiles(join(config.dataDirectory, 'pools'));
  const domainsInUse = () => new Map(index.all().map(({ spec }) => [spec.pool.name, spec.domain]));
  const catalog = starting.use(await PoolDirectory.open(config.poolsDirectory, { lastGood, domainsInUse, log }));
  const spool = new Spool(config.spoolDirectory);
  await spool.prepare();
  await spool.removeUnfinished(new Date(Date.now() - UNFINISHED_AFTER_MS));

  const { agent, releaser, collector, waiters } = composeStandalone({
    ...config,
    prober,
    ledger,
    index,
    catalog,
    spool,
    log,
    reach,
  });
  await drainSpool(spool, releaser, log);
  agent.becomeReady();
  const server = buildServer(agent, log);
  await listen(server, config.socketPath);
  starting.defer(() => server.close());
  starting.defer(() => waiters.stop());
  log.info({ socket: config.socketPath, node: config.node }, 'agent serves');

  const report = (task: string) => (thrown: unknown) =>
    log.error({ task, why: toIpamError(thrown).message }, 'background task failed');
  const drain = () => drainSpool(spool, releaser, log);
  starting.use(repeat(() => DRAIN_EVERY_MS, drain, report('drain the spool')));
  const pauseMs = () => Math.max(SHORTEST_LOOK_MS, collector.untilNextMs(lookEveryMs(config)));
  starting.use(repeat(pauseMs, () => collector.collect(false), report('collect leftovers')));
  return starting.move();
}

/** A pool may ask for probing later, so the prober is made at boot wherever it can work. */
function openProber({ detectConflict, detectGateway }: ProbeSettings, log: Logger): Prober | null {
  const missing = checkProbeCapabilities();
  if (missing !== null && (detectConflict || detectGateway)) throw new IpamError('bad-config', missing);
  if (missing !== null) return null;
  const onAnnounceFailure = ({ interface: name }: AnnounceTarget, why: string) =>
    log.warn({ interface: name, why }, 'address not announced');
  return new Prober({ onAnnounceFailure });
}

/** First of all: nothing is read or changed while another agent may be at work here. */
async function takeHost(
  { dataDirectory, socketPath }: StandaloneConfig,
  starting: AsyncDisposableStack,
): Promise<void> {
  await makeDirectory(dataDirectory);
  await refuseForeignDirectory(dataDirectory);
  starting.use(lockDataDirectory(dataDirectory));
  await makeDirectory(dirname(socketPath));
  starting.use(lockSocketPath(socketPath));
  await prepareSocketPath(socketPath);
}

/** The socket is made with mode 0600: no moment in which others could connect. */
async function listen(server: FastifyInstance, path: string): Promise<void> {
  const before = process.umask(0o177);
  try {
    await server.listen({ path });
  } finally {
    process.umask(before);
  }
}

function lookEveryMs({ collectAfterMs }: StandaloneConfig): number {
  return Math.max(SHORTEST_LOOK_MS, Math.min(30_000, collectAfterMs / 2));
}
