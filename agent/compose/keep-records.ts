import type { Logger } from 'pino';
import { KeyedQueue } from '#agent/calls/call.ts';
import { looksFrom, type NetnsSight } from '#agent/node/netns-look.ts';
import { readKnown } from '#agent/release/known-records.ts';
import { RecordRestorer, type RecordRestorerDeps } from '#agent/release/record-restorer.ts';
import { refreshIndex } from '#agent/release/refresh-index.ts';
import type { Pods } from '#agent/sources/pods.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { ComposedAgent } from './compose-agent.ts';
import type { NodeLedger } from './open-ledger.ts';
import { oneAtATime, spreadOut } from './repeat.ts';
import { UntilDone } from './until-done.ts';

/** All agents see a break or a restore at the same time, and each comparison is a list by label. */
const AFTER_BREAK_MS = 60_000;
const AFTER_RESTORE_MS = 15_000;
const AFTER_REST_MS = 5_000;

interface RecordsToKeep extends Pick<RecordRestorerDeps, 'onRestored' | 'onLost'> {
  readonly node: string;
  readonly nodeLedger: NodeLedger;
  readonly composed: ComposedAgent;
  readonly pods: Pods;
  readonly sight: NetnsSight;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export interface KeptRecords {
  /** Compares with a list of this node's records: at the start. */
  readonly refresh: () => Promise<void>;
  /** Compares with what is found under the known names: now and then. */
  readonly confirm: () => Promise<void>;
}

/** Compares the index and the answered attachments with the ledger: when asked, after a restore, and after each break. */
export function keepRecords(
  { nodeLedger, composed, pods, sight, node, nowMs, log, onRestored, onLost }: RecordsToKeep,
  starting: AsyncDisposableStack,
): KeptRecords {
  const { ledger, raw, journal, answered, revisions, index } = nodeLedger;
  const { agent, releaser, queue } = composed;
  const beginLooks = looksFrom(sight);
  const { machineID } = sight.host;
  const restorer = new RecordRestorer({
    ledger: raw,
    journal,
    index,
    answered,
    queue,
    pods,
    node,
    look: ({ spec }) => beginLooks()(spec.holder),
    onRestored,
    onLost,
    onResting: ({ spec: { address, state, until } }) => {
      log.warn(
        { address, state, until },
        'lost record not created again yet: its address is in the cooldown or quarantine of an earlier holder',
      );
      afterRest.ask();
    },
    log,
  });
  const comparison = { ledger, index, releaser, pods, beginLooks, restorer, node, machineID, nowMs, log };
  const list = () => ledger.byNode(node);
  const readByName = () => readKnown({ ledger, index, answered, node });
  const turns = new KeyedQueue();
  const compareWith = (read: () => Promise<IpRecord[]>) =>
    turns.run(['comparison'], () => refreshIndex({ ...comparison, read }));
  const refresh = oneAtATime(() => compareWith(list));
  const confirm = () => compareWith(readByName);
  const notCompared = (thrown: unknown) => log.error({ why: toIpamError(thrown).message }, 'records not compared');
  const comparing = starting.use(new UntilDone(refresh, notCompared));
  const compare = () => (agent.readiness.isReady ? comparing.start() : undefined);
  const afterRest = starting.use(spreadOut(async () => compare(), AFTER_REST_MS, notCompared));
  const afterRestore = starting.use(spreadOut(async () => compare(), AFTER_RESTORE_MS, notCompared));
  revisions.onFall(() => {
    log.error('the store of the API server was restored from a backup: records are compared with live sandboxes');
    afterRestore.ask();
  });
  // A restore with a small revision bump looks like a restart of the API server.
  const afterBreak = starting.use(spreadOut(async () => compare(), AFTER_BREAK_MS, notCompared));
  revisions.afterBreak(() => afterBreak.ask());
  return { refresh, confirm };
}
