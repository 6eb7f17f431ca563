import { type Call, throwIfAbandoned, writeLimits } from '#agent/calls/call.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { AddressProbe } from './address-probe.ts';
import { type Exhausted, exhaustedError } from './exhausted.ts';
import type { FreedWaiters, Place } from './freed-waiters.ts';
import type { FamilyPlan, MissingPlan } from './plan.ts';
import { type RequestedAddress, takenError } from './requested-address.ts';
import type { SuspectProbe } from './suspect-probe.ts';
import { type Drafting, type Taking, takeAddress, takeFromView, takeOffered, takeRequested } from './take-address.ts';
import { takeSuspect } from './take-suspect.ts';

const MOST_CONFLICTS = 8;

export interface FamilyTakerDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly views: PoolViews;
  readonly waiters: FreedWaiters;
  readonly giveBack: GiveBack;
  readonly probe: AddressProbe;
  readonly suspectProbe: SuspectProbe;
  readonly exhaustedWaitMs: number;
  readonly nowMs: () => number;
  readonly failpoint?: Failpoint | undefined;
  readonly metrics: AgentMetrics;
}

/** One try of a call. */
interface Turn {
  readonly taking: Taking;
  /** Null: the call does not wait yet. */
  readonly place: Place | null;
}

export interface Want extends Drafting {
  readonly call: Call;
}

/** Takes one address of each family, or none: what a failing call took is given back. */
export class FamilyTaker {
  readonly #deps: FamilyTakerDeps;

  constructor(deps: FamilyTakerDeps) {
    this.#deps = deps;
  }

  async take(plan: MissingPlan, want: Want): Promise<IpRecord[]> {
    const { ledger, failpoint, nowMs, metrics } = this.#deps;
    const taken: IpRecord[] = [];
    try {
      await this.#takeAll(plan, { ...want, ledger, failpoint, nowMs, metrics }, taken);
      return taken;
    } catch (thrown) {
      throw await this.#rollBack(taken, toIpamError(thrown));
    }
  }

  /** Waits for an address where every eligible pool is full, as long as the call allows. */
  async #takeAll(plan: MissingPlan, taking: Taking, taken: IpRecord[]): Promise<void> {
    const { nowMs, exhaustedWaitMs, waiters } = this.#deps;
    const startedAtMs = nowMs();
    const untilMs = Math.min(plan.waitUntilMs ?? startedAtMs + exhaustedWaitMs, lastWriteMs(taking.call));
    const isOpen = ({ family }: FamilyPlan) => !taken.some((record) => recordFamily(record) === family);
    let exhausted = await this.#takeEach(plan.families.filter(isOpen), { taking, place: null }, taken);
    if (exhausted.length === 0) return;
    using place = untilMs > startedAtMs ? waiters.join() : null;
    for (let families = plan.families; exhausted.length > 0; ) {
      const isWorthTrying =
        place !== null && (plan.again() !== families || (await isWoken(place, exhausted, untilMs - nowMs(), taking)));
      throwIfAbandoned(taking.call);
      if (!isWorthTrying) throw this.#exhausted(exhausted, taking, place === null ? 0 : nowMs() - startedAtMs);
      families = plan.again();
      exhausted = await this.#takeEach(families.filter(isOpen), { taking, place }, taken);
    }
  }

  #exhausted(exhausted: readonly Exhausted[], { holder }: Taking, waitedMs: number): IpamError {
    const { interface: interfaceName, uid = '' } = holder;
    const others = this.#deps.index.ofHolderUid(uid).filter(({ spec }) => spec.holder.interface !== interfaceName);
    return exhaustedError(exhausted, { interfaceName, waitedMs, others });
  }

  /** Families in parallel. A failure is thrown only after all have ended, so that everything taken is known. */
  async #takeEach(plans: readonly FamilyPlan[], turn: Turn, taken: IpRecord[]): Promise<Exhausted[]> {
    const outcomes = await Promise.allSettled(plans.map((plan) => this.#takeOne(plan, turn)));
    const exhausted: Exhausted[] = [];
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') continue;
      if ('views' in outcome.value) {
        exhausted.push(outcome.value);
      } else {
        taken.push(outcome.value);
      }
    }
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    return exhausted;
  }

  async #takeOne(plan: FamilyPlan, turn: Turn): Promise<IpRecord | Exhausted> {
    const { taking } = turn;
    if (plan.requested !== null) return await this.#takeRequested(plan.requested, taking);
    const views: PoolView[] = [];
    const conflicts: string[] = [];
    for (const pool of plan.pools) {
      const view = this.#deps.views.of(pool);
      views.push(view);
      const record = await this.#takeUnused(view, turn, conflicts);
      if (record !== null) return record;
    }
    for (const view of views) {
      const record = await takeSuspect(view, taking, this.#deps.suspectProbe);
      if (record !== null) return this.#remember(record);
    }
    return { family: plan.family, views, objected: plan.objected };
  }

  /** Address after address, until one is not used by a foreign host. */
  async #takeUnused(view: PoolView, turn: Turn, conflicts: string[]): Promise<IpRecord | null> {
    const { taking } = turn;
    for (;;) {
      const record = await this.#takeFree(view, turn);
      if (record === null) return null;
      this.#remember(record);
      const mac = await this.#deps.probe.findConflict(record, view.pool, taking.call);
      if (mac === null) return record;
      conflicts.push(`${record.spec.address} is used by ${mac}`);
      if (conflicts.length === MOST_CONFLICTS) {
        const message = `${MOST_CONFLICTS} addresses in a row are used by foreign hosts on ${taking.holder.interface}`;
        throw new IpamError('address-conflict', message, { details: conflicts.join('\n') });
      }
    }
  }

  /** A call that waits does not read a full pool again: the watch keeps the view. A new call stays behind those that wait. */
  async #takeFree(view: PoolView, { taking, place }: Turn): Promise<IpRecord | null> {
    const offered = place?.claim(view) ?? null;
    const record = offered === null ? null : await takeOffered(view, offered, taking);
    if (record !== null || !this.#deps.waiters.mayTake(view, place)) return record;
    if (place === null || !view.isLoaded) return await takeAddress(view, taking);
    return view.freeCount === 0n ? null : await takeFromView(view, taking);
  }

  async #takeRequested({ pool, value }: RequestedAddress, taking: Taking): Promise<IpRecord> {
    const outcome = await takeRequested(this.#deps.views.of(pool), value, taking);
    if (outcome.taken) return await this.#refuseConflict(this.#remember(outcome.record), pool, taking);
    const address = { family: pool.family, value };
    throw takenError(address, outcome.record ?? (await this.#deps.ledger.get(recordName(address, pool.domain))));
  }

  /** At once: whatever comes between the create and the answer, the DEL that follows finds it. */
  #remember(record: IpRecord): IpRecord {
    this.#deps.index.put(record);
    return record;
  }

  async #refuseConflict(record: IpRecord, pool: Pool, { call }: Taking): Promise<IpRecord> {
    const mac = await this.#deps.probe.findConflict(record, pool, call);
    if (mac === null) return record;
    const message = `${record.spec.address} is asked for, but a foreign host with MAC ${mac} uses it`;
    throw new IpamError('address-refused', message);
  }

  async #rollBack(taken: readonly IpRecord[], error: IpamError): Promise<IpamError> {
    const stuck: string[] = [];
    for (const record of taken) {
      const outcome = await this.#deps.giveBack.atOnce(record).catch((thrown: unknown) => {
        stuck.push(`${record.spec.address} could not be given back: ${toIpamError(thrown).message}`);
      });
      if (outcome === 'journalled')
        stuck.push(`${record.spec.address} is given back as soon as the API server lets it`);
    }
    if (stuck.length === 0) return error;
    const details = [error.details, ...stuck].filter((line) => line !== '').join('\n');
    return new IpamError(error.reason, error.message, { details, cause: error });
  }
}

/** False when the time is over, or the agent stops. */
async function isWoken(
  place: Place,
  exhausted: readonly Exhausted[],
  waitMs: number,
  { call }: Taking,
): Promise<boolean> {
  if (waitMs <= 0) return false;
  const pools = exhausted.flatMap(({ views }) => views.map(({ pool }) => pool.name));
  const wake = await place.wait(pools, waitMs, call.signal);
  return wake === 'offer' || wake === 'look';
}

/** What comes back later than this is of no use to the call. */
function lastWriteMs(call: Call): number {
  return writeLimits(call).deadlineMs ?? call.deadlineMs;
}
