import type { Logger } from 'pino';
import { toAllocated, toRetainedBy, toSuspect } from '#controller/judge/next-spec.ts';
import { type Cause, isCollecting, type Verdict } from '#controller/judge/verdict.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { EmittedEvent, Events } from '#pkg/kube/events/events.ts';
import type { Refusal } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toCooling } from '#pkg/record/released-spec.ts';
import type { CollectMetrics } from './collect-metrics.ts';
import type { RecordWriter } from './record-writer.ts';

/** What is written. */
export type Change =
  | Exclude<Verdict, { do: 'keep' | 'read-owner' | 'read-pod' }>
  | { readonly do: 'relabel'; readonly cause: 'labels-wrong' };

export interface DeedDeps {
  readonly writer: RecordWriter;
  readonly metrics: CollectMetrics;
  readonly events: Events;
  readonly log: Logger;
  readonly now: () => Date;
  readonly mayWrite: () => boolean;
  readonly isDryRun: boolean;
  readonly cooldownSeconds: (pool: string) => number;
}

type Ending = 'done' | 'dry-run' | 'not-leading' | Refusal;

const MESSAGES: Readonly<Record<Change['do'], string>> = {
  free: 'record freed',
  retain: 'record retained',
  suspect: 'record suspected',
  'allocate-again': 'record repaired',
  relabel: 'record relabelled',
};

/** One conditional write, one line that says why, one count. A record that moved on since it was judged is left alone. */
export async function carryOut(record: IpRecord, change: Change, deps: DeedDeps): Promise<Ending> {
  const { log, metrics, events } = deps;
  const fields = describe(record, change);
  if (deps.isDryRun && change.do !== 'relabel' && isCollecting(change)) {
    log.info(fields, `dry run: ${MESSAGES[change.do]}`);
    metrics.collected(change.cause);
    return 'dry-run';
  }
  if (!deps.mayWrite()) return 'not-leading';
  try {
    const outcome = await write(record, change, deps);
    if (!outcome.done) {
      log.debug({ ...fields, because: outcome.because }, 'record was changed meanwhile: not written');
      return outcome.because;
    }
  } catch (thrown) {
    metrics.failed(change.cause);
    log.warn({ ...fields, failure: toIpamError(thrown).message }, 'record not changed');
    throw thrown;
  }
  log.info(fields, MESSAGES[change.do]);
  metrics.collected(change.cause);
  if (isInDoubt(change)) metrics.doubted(change.cause);
  const event = toEvent(record, change);
  if (event !== null) events.emit(event);
  return 'done';
}

function write(record: IpRecord, change: Change, { writer, now, cooldownSeconds }: DeedDeps) {
  const { spec } = record;
  switch (change.do) {
    case 'free': {
      const seconds = spec.state === 'Allocated' ? cooldownSeconds(spec.pool.name) : 0;
      if (seconds === 0) return writer.release(record);
      return writer.amend(record, toCooling(spec, new Date(now().getTime() + seconds * 1_000)));
    }
    case 'retain':
      return writer.amend(record, toRetainedBy(spec, change.isProven));
    case 'suspect':
      return writer.amend(record, toSuspect(spec));
    case 'allocate-again':
      return writer.repair(record, toAllocated(spec, change.pod));
    case 'relabel':
      return writer.repair(record, spec);
  }
}

function describe({ name, spec }: IpRecord, { cause }: Change) {
  const { kind, namespace, name: holder, uid, interface: nic, node } = spec.holder;
  const { state, pool } = spec;
  return { record: name, pool: pool.name, state, cause, kind, namespace, holder, uid, interface: nic, node };
}

/** The sandbox may still be there, and only its node could know. */
function isInDoubt(change: Change): boolean {
  return change.do === 'suspect' || (change.do === 'retain' && !change.isProven);
}

const EVENTS: Partial<
  Record<Change['do'], { readonly reason: string; readonly note: (address: string, cause: Cause) => string }>
> = {
  suspect: {
    reason: 'AddressSuspect',
    note: (address, cause) =>
      `${address} may still be in use on its node (${cause}); it is given out only after a probe`,
  },
  retain: {
    reason: 'AddressRetainedInDoubt',
    note: (address) =>
      `${address} may still be in use by the pod that had it; the next pod of its name gets it after a probe`,
  },
  'allocate-again': {
    reason: 'AddressRepaired',
    note: (address, cause) => `the record of ${address} did not say who has it (${cause}) and was put right`,
  },
};

function toEvent({ name, uid, spec }: IpRecord, change: Change): EmittedEvent | null {
  const event = EVENTS[change.do];
  if (event === undefined || change.cause === 'migrated' || (change.do === 'retain' && change.isProven)) return null;
  return {
    regarding: { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid },
    type: 'Warning',
    reason: event.reason,
    note: event.note(spec.address, change.cause),
  };
}
