import { type Call, throwIfAbandoned, timeLeftMs, writeLimits } from '#agent/calls/call.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { cidrContains } from '#pkg/ip/cidr.ts';
import { within } from '#pkg/kube/transport/timing.ts';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import type { CreateLimits, CreateOutcome, Ledger } from '#pkg/ledger/ledger.ts';
import { POD_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import type { Pool, Route } from '#pkg/pool/pool.ts';
import { allocatedSpec, type Holder, type IpRecord, isRecordFor, type RecordSpec } from '#pkg/record/ip-record.ts';

/** What a record says beyond its pool and address. */
export interface Drafting {
  readonly holder: Holder;
  readonly cleanGateway: boolean;
  /** Routes that the pod itself asks for. */
  readonly routes: readonly Route[];
}

/** One call that takes addresses. */
export interface Taking extends Drafting {
  readonly call: Call;
  readonly ledger: Ledger;
  readonly failpoint?: Failpoint | undefined;
  readonly nowMs: () => number;
  readonly metrics: AgentMetrics;
}

type Wish = Required<Pick<CreateLimits, 'tellsHolder'>>;

/** Takes one address of a pool: the write decides, the view only guesses. Null when nothing is free, by a fresh read. */
export async function takeAddress(view: PoolView, taking: Taking): Promise<IpRecord | null> {
  if (!view.isLoaded) await untilRead(view, () => view.reload(), taking);
  const lost: bigint[] = [];
  let sawEmpty = false;
  try {
    for (;;) {
      const attempt = await takeNext(view, taking);
      if (attempt !== null && 'record' in attempt) return attempt.record;
      if (attempt === null && sawEmpty) return null;
      if (attempt === null) sawEmpty = true;
      // Still held, so that no reload offers it to this call again: a record of another pool may own the name.
      else {
        lost.push(attempt.lost);
        view.markLost(attempt.lost);
      }
      await untilRead(view, () => view.reload(), taking);
    }
  } finally {
    for (const value of lost) view.lose(value);
  }
}

/** Takes one of the addresses that look free, without a read of the pool. Null when nothing looks free any more. */
export async function takeFromView(view: PoolView, taking: Taking): Promise<IpRecord | null> {
  for (;;) {
    const attempt = await takeNext(view, taking);
    if (attempt === null) return null;
    if ('record' in attempt) return attempt.record;
    view.lose(attempt.lost);
  }
}

/** Takes an address that was picked for this call. Null when another caller was faster. */
export async function takeOffered(view: PoolView, value: bigint, taking: Taking): Promise<IpRecord | null> {
  const hasSlot = await view.creates.takeWithin(timeLeftMs(taking.call, taking.nowMs()), taking.call.signal);
  try {
    if (!hasSlot || isOver(taking)) view.putBack(value);
    throwIfOver(view, taking);
    if (!hasSlot) throw noTurn(view);
    taking.failpoint?.('address-chosen');
    const outcome = await create(view, value, taking, { tellsHolder: false });
    if (outcome.taken) return outcome.record;
    view.lose(value);
    return null;
  } finally {
    if (hasSlot) view.creates.giveBack();
  }
}

/** One create, in its turn. Null when nothing looks free. */
async function takeNext(
  view: PoolView,
  taking: Taking,
): Promise<{ readonly record: IpRecord } | { readonly lost: bigint } | null> {
  if (!(await untilMayCreate(view, taking))) return null;
  try {
    const value = view.pick();
    if (value === null) return null;
    taking.failpoint?.('address-chosen');
    // The holder is not needed, only another address: this saves a read per lost create.
    const outcome = await create(view, value, taking, { tellsHolder: false });
    return outcome.taken ? { record: outcome.record } : { lost: value };
  } finally {
    view.creates.giveBack();
  }
}

/**
 * Takes one of the pool's create slots, while the view is not being replaced: a pick from the old one would be lost.
 * False when nothing looks free: many calls learn it at once, and share the read that follows.
 */
async function untilMayCreate(view: PoolView, taking: Taking): Promise<boolean> {
  for (;;) {
    if (view.isAwaited) await untilRead(view, () => view.untilLoaded(), taking);
    if (view.freeCount === 0n) return false;
    const hasSlot = await view.creates.takeWithin(timeLeftMs(taking.call, taking.nowMs()), taking.call.signal);
    if (hasSlot && !view.isAwaited && !isOver(taking)) return true;
    if (hasSlot) view.creates.giveBack();
    throwIfOver(view, taking);
    if (!hasSlot) throw noTurn(view);
  }
}

function noTurn({ pool }: PoolView): IpamError {
  return new IpamError('out-of-time', `timed out waiting for a turn in pool ${pool.name}`);
}

/** Waits as long as the call has time for a write after it. The read itself goes on, and other calls use it. */
async function untilRead(view: PoolView, read: () => Promise<void>, { call, nowMs }: Taking): Promise<void> {
  const { deadlineMs = call.deadlineMs } = writeLimits(call);
  const reading = read().then(() => 'read');
  const outcome = await within(reading, deadlineMs - nowMs(), call.signal);
  throwIfAbandoned(call);
  if (outcome === null)
    throw new IpamError('out-of-time', `timed out before the records of pool ${view.pool.name} were read`);
}

/** Takes one requested address. A lost create returns the record of the present holder, if the ledger knows it. */
export async function takeRequested(view: PoolView, value: bigint, taking: Taking): Promise<CreateOutcome> {
  throwIfOver(view, taking);
  view.pickExactly(value);
  const outcome = await create(view, value, taking, { tellsHolder: true });
  if (!outcome.taken) view.lose(value);
  return outcome;
}

/** Creates the record of a picked address. After a lost create the address stays picked. */
async function create(view: PoolView, value: bigint, taking: Taking, wish: Wish): Promise<CreateOutcome> {
  const outcome = await attempt(view.pool, value, taking, wish).catch((thrown: unknown) => {
    // A create that may still land is not free: the next call would only lose to it.
    if (abandonedName(thrown) === null) view.putBack(value);
    else view.settle(value);
    throw thrown;
  });
  if (!outcome.taken) {
    taking.metrics.createConflict();
    return outcome;
  }
  taking.failpoint?.('record-created');
  view.settle(value);
  return outcome;
}

/** A record that this holder has under the name already, from an earlier try or sandbox, becomes this sandbox's: its DEL must find it. */
async function attempt(pool: Pool, value: bigint, taking: Taking, wish: Wish): Promise<CreateOutcome> {
  const { ledger, call } = taking;
  const spec = draftRecord(pool, value, taking);
  const { record, taken } = await ledger.create(spec, { ...writeLimits(call), ...wish });
  if (record === null || !(taken || isRecordFor(record, spec))) return { taken: false, record };
  if (record.spec.holder.containerID === spec.holder.containerID) return { taken: true, record };
  const holder = { ...spec.holder, attachGeneration: record.spec.holder.attachGeneration + 1 };
  const claimed = await ledger.amend(record, { ...record.spec, holder }, writeLimits(call));
  return claimed.done ? { taken: true, record: claimed.record } : { taken: false, record: null };
}

function isOver({ call, nowMs }: Taking): boolean {
  return call.signal.aborted || timeLeftMs(call, nowMs()) === 0;
}

function throwIfOver(view: PoolView, taking: Taking): void {
  throwIfAbandoned(taking.call);
  if (isOver(taking)) {
    throw new IpamError('out-of-time', `timed out before an address of pool ${view.pool.name} was taken`);
  }
}

/** As many as a pool may have, and as the CRD of the record allows. */
const MOST_ROUTES = 1_000;

export function draftRecord(pool: Pool, value: bigint, { holder, cleanGateway, routes }: Drafting): RecordSpec {
  const added = routes.filter(({ gw }) => cidrContains(pool.subnet, parseAddress(gw)));
  const all = [...pool.routes, ...added];
  if (all.length > MOST_ROUTES) {
    const message = `pool ${pool.name} has ${pool.routes.length} routes, and annotation ${POD_ANNOTATIONS.routes} of the pod adds ${added.length}: one address has at most ${MOST_ROUTES}`;
    throw new IpamError('bad-annotation', message);
  }
  return {
    ...allocatedSpec(pool, { family: pool.family, value }, holder),
    ...(all.length === 0 ? {} : { routes: all }),
    ...(cleanGateway ? { cleanGateway } : {}),
  };
}
