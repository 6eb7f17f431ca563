import type { Logger } from 'pino';
import type { NodeWatches } from '#agent/cluster/node-watches.ts';
import type { Spool } from '#agent/debts/spool.ts';
import { drainSpool } from '#agent/release/drain-spool.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { ComposedAgent } from './compose-agent.ts';
import type { KeptRecords } from './keep-records.ts';
import { repeat } from './repeat.ts';

const SETTLE_EVERY_MS = 2_000;
/** Only at records without a living pod, of which there are few. */
const LOOK_EVERY_MS = 5_000;
const SHORTEST_LOOK_MS = 200;
const MARK_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 30_000;
const CONFIRM_EVERY_MS = 10 * 60_000;
const RETRY_START_MS = 1_000;

interface Background {
  readonly composed: ComposedAgent;
  readonly watches: Pick<NodeWatches, 'open'>;
  readonly kept: KeptRecords;
  readonly spool: Spool;
  readonly log: Logger;
  readonly nowMs?: () => number;
}

/** First repeats the work that must succeed before the agent is ready, then starts the periodic tasks. */
export function startBackground({ composed, watches, kept, spool, log, nowMs }: Background): AsyncDisposable {
  const { agent, releaser, collector, marks, sweep, settleJournal } = composed;
  const stack = new AsyncDisposableStack();
  const report = (task: string) => (thrown: unknown) =>
    log.error({ task, why: toIpamError(thrown).message }, 'background task failed');
  const draining = { failed: new Set<string>(), ...(nowMs === undefined ? {} : { nowMs }) };
  // In parallel: an ADD that waits for the start has no time for one round after the other.
  const settle = async () => {
    const rounds = await Promise.allSettled([drainSpool(spool, releaser, log, draining), settleJournal()]);
    for (const round of rounds) if (round.status === 'rejected') throw round.reason;
  };
  const stopped = Promise.withResolvers<'stopped'>();
  const start = async () => {
    if ((await Promise.race([watches.open((what) => agent.readiness.waitFor(what)), stopped.promise])) === 'stopped')
      return;
    agent.readiness.waitFor("this node's records have not been read yet");
    await kept.refresh();
    await settle();
    agent.readiness.become();
    log.info('agent is ready');
  };
  const whenReady = (task: () => Promise<unknown>) => async () => (agent.readiness.isReady ? await task() : undefined);
  let isFirst = true;
  const pauseMs = () => {
    if (agent.readiness.isReady) return CONFIRM_EVERY_MS * (0.9 + Math.random() / 5);
    const ms = isFirst ? 0 : RETRY_START_MS;
    isFirst = false;
    return ms;
  };
  const opening = repeat(
    pauseMs,
    async () => (agent.readiness.isReady ? await kept.confirm() : await start()),
    report('read this node from the API server'),
  );
  stack.use(opening);
  stack.use(repeat(() => SETTLE_EVERY_MS, whenReady(settle), report('settle spool and journal')));
  stack.use(
    repeat(
      () => Math.max(SHORTEST_LOOK_MS, collector.untilNextMs(LOOK_EVERY_MS)),
      whenReady(() => collector.collect(false)),
      report('collect leftovers'),
    ),
  );
  stack.use(
    repeat(
      () => MARK_EVERY_MS,
      whenReady(() => marks.mark()),
      report('mark sandboxes that are seen'),
    ),
  );
  const sweeping = new AbortController();
  if (sweep !== null)
    stack.use(
      repeat(
        () => SWEEP_EVERY_MS,
        whenReady(() => sweep.step(sweeping.signal)),
        report('sweep Suspect addresses'),
      ),
    );
  stack.defer(() => sweeping.abort());
  stack.defer(() => stopped.resolve('stopped'));
  return stack;
}
