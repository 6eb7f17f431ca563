import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { attachmentKey, type Call, type KeyedQueue, nicKey, throwIfAbandoned } from '#agent/calls/call.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { type Journal, spareAnswered } from '#agent/debts/journal.ts';
import type { Spool } from '#agent/debts/spool.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { CatalogSnapshot, PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { AddArgs, AddResponse } from '#pkg/agentapi/wire.ts';
import { Slots } from '#pkg/concurrency/slots.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { mayAskForPatterns } from '#pkg/pool/asked-pools.ts';
import type { Route } from '#pkg/pool/pool.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import type { AddCall, Debts } from './add-call.ts';
import { type Announcer, toAddResponse } from './answer.ts';
import type { AutoPools } from './auto-pools.ts';
import type { FamilyTaker } from './family-taker.ts';
import { PatternSearch } from './pattern-search.ts';
import {
  concernsAutoPools,
  type MissingPlan,
  oncePer,
  type Plan,
  type PlanOptions,
  planAllocation,
  trySurvey,
} from './plan.ts';
import type { Reattachment } from './reattachment.ts';
import { refuseOtherAddress } from './requested-address.ts';
import type { StickyTakeOver } from './sticky-take-over.ts';

/** ADDs that an agent has at once. The next one fails at once with `agent-busy`. */
const MOST_ADDS = 1_064;
const MANY_POOLS = 100;

export interface AllocatorDeps {
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly index: NodeIndex;
  readonly reattachment: Reattachment;
  readonly taker: FamilyTaker;
  readonly announcer: Announcer;
  readonly spool: Spool;
  /** Null where the ledger is in this process. */
  readonly journal: Journal | null;
  /** Null where no holder is sticky. */
  readonly sticky: StickyTakeOver | null;
  readonly autoPools: AutoPools;
  readonly queue: KeyedQueue;
  readonly options: PlanOptions;
  readonly failpoint?: Failpoint | undefined;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
}

/** ADD: find debts → reattach → await pools → retake → plan → take → settle debts → answer. */
export class Allocator {
  readonly #deps: AllocatorDeps;
  readonly #admitted = new Slots(MOST_ADDS, 0);
  readonly #patterns = new PatternSearch();

  constructor(deps: AllocatorDeps) {
    this.#deps = deps;
  }

  /** Waits for `untilReady` inside the admission, so that waiting calls count towards its limit. */
  async add(args: AddArgs, call: Call, untilReady: () => Promise<void>): Promise<AddResponse> {
    const { queue, holders, failpoint } = this.#deps;
    failpoint?.('add-received');
    if (!this.#admitted.tryTake()) {
      throw new IpamError('agent-busy', `the agent already has ${MOST_ADDS} ADDs to work on; try again later`);
    }
    try {
      await untilReady();
      const facts = await holders.resolve(args);
      const keys = [attachmentKey(args), nicKey(facts.holder)];
      return await queue.run(keys, () => this.#allocate({ args, facts, call }));
    } finally {
      this.#admitted.giveBack();
    }
  }

  /** The steps of docs/design.md, in its order. What each one finds is the input of the next. */
  async #allocate(asked: AddCall): Promise<AddResponse> {
    throwIfAbandoned(asked.call);
    this.#deps.metrics.queueWait(performance.now() - asked.call.arrivedAtMs);
    const { catalog, reattachment, autoPools } = this.#deps;
    const { request } = asked.facts;
    if (mayAskForPatterns(request)) await this.#patterns.find(request, catalog.current().list);
    const debts = this.#findDebts(asked);
    const held = await reattachment.reattach(asked, debts);
    const isConcerned = concernsAutoPools(catalog.current(), request);
    const add = isConcerned ? await autoPools.prepare(asked, new Set(held.map(recordFamily))) : asked;
    const kept = [...held, ...(await this.#retake(add, held))];
    const plan = this.#plan(add, kept);
    const records = plan === null ? kept : [...kept, ...(await this.#take(add, plan))];
    await this.#settleDebts(add, debts, records);
    return this.#answer(add, records);
  }

  #findDebts({ args, facts }: AddCall): Debts {
    const { spool, journal } = this.#deps;
    return { spooled: spool.find(args), unsettled: journal?.ofNic(args, facts.holder.uid) ?? [] };
  }

  /** A sticky holder takes over the addresses of its pod before this one. */
  async #retake({ facts, call }: AddCall, held: readonly IpRecord[]): Promise<IpRecord[]> {
    const { sticky, catalog, options } = this.#deps;
    if (sticky === null || !facts.isSticky) return [];
    const survey = trySurvey(facts.request, catalog.current(), options);
    // The plan for what is missing throws the error.
    if (survey === null) return [];
    const routes = this.#openRoutes(facts);
    return await sticky.retake({ facts, survey, held: new Set(held.map(recordFamily)), routes, call });
  }

  /** Which pools serve the families that are missing. Null: no plan is possible, and what is held is the answer. */
  #plan({ args, facts, call }: AddCall, held: readonly IpRecord[]): MissingPlan | null {
    const { catalog, options, autoPools, log } = this.#deps;
    const heldFamilies = new Set(held.map(recordFamily));
    const requested = args.requestedIPs ?? [];
    const planIn = (pools: CatalogSnapshot) =>
      planAllocation(facts.request, requested, pools, { ...options, heldFamilies });
    const missing = ({ families }: Plan) => families.filter(({ family }) => !heldFamilies.has(family));
    try {
      const snapshot = catalog.current();
      const plan = planIn(snapshot);
      for (const warning of [...facts.warnings, ...plan.warnings]) {
        log.warn({ containerID: args.containerID, ifName: args.ifName, warning }, 'request warning');
      }
      if (requested.length > 0) refuseOtherAddress(plan.families, held);
      const families = missing(plan);
      const again = oncePer(snapshot, families, (now) => missing(planIn(now)));
      const waitUntilMs = families.some(({ autoPool }) => autoPool !== null) ? autoPools.waitUntilMs(call) : null;
      return { families, cleanGateway: plan.cleanGateway, waitUntilMs, again: () => again(catalog.current()) };
    } catch (thrown) {
      if (thrown instanceof IpamError && held.length > 0 && args.requestedIPs === undefined) return null;
      throw thrown;
    }
  }

  async #take({ facts, call }: AddCall, plan: MissingPlan): Promise<IpRecord[]> {
    const holder = { ...facts.holder, attachGeneration: 1 };
    const { cleanGateway } = plan;
    const { taker, autoPools } = this.#deps;
    if (isLarge(plan)) await turn();
    try {
      return await taker.take(plan, { holder, cleanGateway, routes: this.#openRoutes(facts), call });
    } catch (thrown) {
      throw await autoPools.explain(toIpamError(thrown), plan.families);
    }
  }

  /** Only now: until here a crash leaves a release that applies to an ADD which was not answered. */
  async #settleDebts({ args, call }: AddCall, { spooled }: Debts, records: readonly IpRecord[]): Promise<void> {
    const { journal, failpoint } = this.#deps;
    if (journal !== null) await spareAnswered(records, journal);
    if (spooled !== null) await this.#consumeRelease(args, spooled, records, call);
    failpoint?.('spool-consumed');
  }

  /**
   * Takes the DEL that came before this ADD out of the spool. If the caller closed its connection, or spooled another DEL
   * since, the runtime has given this ADD up: then the DEL stays and releases what was taken here.
   */
  async #consumeRelease(args: AddArgs, spooled: string, records: readonly IpRecord[], call: Call): Promise<void> {
    await turn();
    if (!call.signal.aborted && this.#deps.spool.find(args) === spooled) return await this.#deps.spool.remove(args);
    const addresses = records.map(({ spec }) => spec.address).join(', ');
    throw new IpamError(
      'caller-gone',
      `the runtime gave this ADD up; ${addresses} is given back by the DEL that follows`,
    );
  }

  #answer({ args, facts }: AddCall, records: readonly IpRecord[]): AddResponse {
    const { index, announcer, failpoint } = this.#deps;
    const others = index.ofHolderUid(facts.holder.uid).filter((record) => isOtherInterface(record, args));
    failpoint?.('answer-ready');
    for (const record of records) index.markAnswered(record);
    // During a migration the VMI still runs on the source node and answers there.
    if (!facts.isMigrationTarget) announcer.announce(facts.holder, records);
    return toAddResponse([...records, ...others]);
  }

  /** A route is carried once, by the first interface that reaches its gateway. */
  #openRoutes({ holder, routes }: HolderFacts): readonly Route[] {
    if (routes.length === 0) return routes;
    const carried = this.#deps.index
      .ofHolderUid(holder.uid)
      .filter(({ spec }) => spec.holder.interface !== holder.interface)
      .flatMap(({ spec }) => spec.routes ?? []);
    return routes.filter((route) => !carried.some(({ dst, gw }) => dst === route.dst && gw === route.gw));
  }
}

function isOtherInterface({ spec }: IpRecord, { ifName }: AddArgs): boolean {
  return spec.state === 'Allocated' && spec.holder.interface !== ifName;
}

/** Such a plan takes milliseconds: other calls have a turn before the address is taken. */
function isLarge({ families }: MissingPlan): boolean {
  return families.reduce((sum, { pools, objected }) => sum + pools.length + objected.length, 0) > MANY_POOLS;
}
