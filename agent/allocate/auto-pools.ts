import { type Call, throwIfAbandoned, writeLimits } from '#agent/calls/call.ts';
import type { Applications, Shortages } from '#agent/sources/applications.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import type { AddCall } from './add-call.ts';
import { type MissingPool, missingPoolError, withShortages } from './auto-pool-error.ts';
import { type FamilyPlan, isAwaited, type PlanOptions, trySurvey } from './plan.ts';

export interface AutoPoolsDeps {
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly options: PlanOptions;
  readonly applications: Applications;
  readonly shortages: Shortages;
  readonly nowMs: () => number;
  /** Calls that wait for a pool to be made. */
  readonly most: number;
}

/** What is left of a call's time for a create, or for the read that explains why there is no pool. */
const SPARE_MS = 1_000;

/** Pools that the controller makes for one application: whether a pod is of it, and waiting until they are there. */
export class AutoPools {
  readonly #deps: AutoPoolsDeps;
  readonly #stopping = new AbortController();
  #waiting = 0;

  constructor(deps: AutoPoolsDeps) {
    this.#deps = deps;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The agent stops: no pool would be noticed any more. */
  stop(): void {
    this.#stopping.abort();
  }

  /**
   * The call with what its pod is known to be, after the pools of its application are there. Calls that need no such pool, and
   * those that hold their addresses already, pass.
   */
  async prepare(add: AddCall, held: ReadonlySet<Family>): Promise<AddCall> {
    const isMissing = this.#awaited(add.facts, held).length > 0;
    const facts = isMissing ? await this.#untilThere(add, held) : add.facts;
    return { ...add, facts: await this.confirm(facts, held) };
  }

  /** Rule 10: what the pod says about its owner counts for such a pool only after a look at that owner. */
  async confirm(facts: HolderFacts, held: ReadonlySet<Family> = new Set()): Promise<HolderFacts> {
    const plans = this.#missing(facts, held);
    const made = plans.flatMap(({ pools }) => pools.filter(({ auto }) => auto !== null));
    if (made.length === 0) return facts;
    const controllerDoubt = await this.#deps.applications.whyNot(facts, made);
    return controllerDoubt === null ? facts : { ...facts, request: { ...facts.request, controllerDoubt } };
  }

  /** The error of a call whose pools are full, with what the controller says about those that it makes. */
  async explain(error: IpamError, plans: readonly FamilyPlan[]): Promise<IpamError> {
    const said = await this.#said(plans);
    return error.reason === 'pools-exhausted' && said.length > 0 ? withShortages(error, said) : error;
  }

  /** The error of a call whose pools do not come. Null: it would wait for no pool. */
  async foresee(plans: readonly FamilyPlan[], waitedMs = 0): Promise<IpamError | null> {
    const missing = await this.#said(plans.filter(isAwaited));
    return missing.length === 0 ? null : missingPoolError(missing, waitedMs);
  }

  /** How long a call may wait for such a pool, or for an address of it. */
  waitUntilMs(call: Call): number {
    const { deadlineMs = call.deadlineMs } = writeLimits(call);
    return deadlineMs - SPARE_MS;
  }

  async #untilThere(add: AddCall, held: ReadonlySet<Family>): Promise<HolderFacts> {
    const { call, args } = add;
    const startedMs = this.#deps.nowMs();
    const { request } = await this.#deps.holders.resolve(args, { isFresh: true });
    const facts = { ...add.facts, request };
    await this.#wait(call, () => this.#awaited(facts, held).length > 0);
    throwIfAbandoned(call);
    const error = await this.foresee(this.#awaited(facts, held), this.#deps.nowMs() - startedMs);
    if (error !== null) throw error;
    return facts;
  }

  /** Until it is not missing any more, or time is over, or the caller or this agent goes. */
  async #wait(call: Call, isMissing: () => boolean): Promise<void> {
    const { catalog, nowMs, most } = this.#deps;
    const waitMs = this.waitUntilMs(call) - nowMs();
    if (this.#waiting >= most || waitMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    using stack = new DisposableStack();
    this.#waiting += 1;
    stack.defer(() => {
      this.#waiting -= 1;
    });
    const timer = setTimeout(resolve, waitMs);
    stack.defer(() => clearTimeout(timer));
    for (const signal of [call.signal, this.#stopping.signal]) {
      const end = () => resolve();
      signal.addEventListener('abort', end);
      stack.defer(() => signal.removeEventListener('abort', end));
      if (signal.aborted) resolve();
    }
    const look = () => {
      if (!isMissing()) resolve();
    };
    stack.use(catalog.onChange(look));
    look();
    await promise;
  }

  #awaited(facts: HolderFacts, held: ReadonlySet<Family>): FamilyPlan[] {
    return this.#missing(facts, held).filter(isAwaited);
  }

  /** The families that the call needs; none if it cannot be planned: the plan throws the error. */
  #missing({ request }: HolderFacts, held: ReadonlySet<Family>): readonly FamilyPlan[] {
    const { catalog, options } = this.#deps;
    const survey = trySurvey(request, catalog.current(), options);
    return survey === null ? [] : survey.families.filter(({ family }) => !held.has(family));
  }

  async #said(plans: readonly FamilyPlan[]): Promise<MissingPool[]> {
    const asked = plans.flatMap(({ autoPool, ...plan }) => (autoPool === null ? [] : [{ ...plan, autoPool }]));
    return await Promise.all(
      asked.map(async (plan) => ({ plan, why: await this.#deps.shortages.find(plan.autoPool) })),
    );
  }
}
