import type { Logger } from 'pino';
import type { AddArgs, AddResponse } from '#pkg/agentapi/wire.ts';
import { holderKey } from '#pkg/crd/holder-key.ts';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { recordFamily } from '#pkg/crd/record-family.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { type Call, throwIfAbandoned } from '../call.ts';
import type { Gate, Slot } from '../gate.ts';
import type { HolderFacts, HolderSource } from '../holder-source.ts';
import type { KeyedQueue } from '../keyed-queue.ts';
import type { NodeIndex } from '../node-index.ts';
import type { PoolCatalog } from '../pool-catalog.ts';
import { attachmentKey } from '../release/attachment.ts';
import type { Spool } from '../release/spool.ts';
import type { ReachStep } from '../steps.ts';
import type { AddressProbe } from './address-probe.ts';
import { toAddResponse } from './answer.ts';
import type { FamilyTaker } from './family-taker.ts';
import { type FamilyPlan, isCandidate, type PlanOptions, planAllocation, surveyPools } from './plan.ts';
import type { Reattachment } from './reattachment.ts';

export interface AllocatorDeps {
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly index: NodeIndex;
  readonly reattachment: Reattachment;
  readonly taker: FamilyTaker;
  readonly probe: AddressProbe;
  readonly spool: Spool;
  readonly gate: Gate;
  readonly queue: KeyedQueue;
  readonly options: PlanOptions;
  readonly reach: ReachStep;
  readonly log: Logger;
}

/** ADD: who asks → what it already holds → which pools → take what is missing → answer. */
export class Allocator {
  readonly #deps: AllocatorDeps;

  constructor(deps: AllocatorDeps) {
    this.#deps = deps;
  }

  async add(args: AddArgs, call: Call): Promise<AddResponse> {
    const { gate, queue, holders, reach } = this.#deps;
    reach('add-received');
    return await gate.admit(async () => {
      const facts = await holders.resolve(args);
      const keys = [attachmentKey(args), `holder ${holderKey(facts.holder, 4)}`];
      return await queue.run(keys, () => gate.work((slot) => this.#addInTurn(args, facts, call, slot)));
    });
  }

  async #addInTurn(args: AddArgs, facts: HolderFacts, call: Call, slot: Slot): Promise<AddResponse> {
    throwIfAbandoned(call);
    const { spool, index, reattachment, reach } = this.#deps;
    const spooled = spool.find(args);
    const isReleasePending = spooled !== null;
    const isStray = (record: IpRecord) => hasMoved(record, facts) && this.#isOutOfReach(record, facts);
    const found = await reattachment.reattach(facts.holder, isReleasePending, isStray);
    const held = await this.#probeUnanswered(found, call);
    const records = await this.#complete(args, facts, held, call, slot);
    if (isReleasePending) await this.#consumeRelease(args, spooled, records, call);
    reach('spool-consumed');
    const others = index.ofContainer(args.containerID).filter(({ spec }) => spec.holder.interface !== args.ifName);
    reach('answer-ready');
    for (const record of records) index.markAnswered(record);
    this.#deps.probe.announce(records, this.#deps.catalog.current().pools);
    return toAddResponse([...records, ...others]);
  }

  /**
   * Takes the DEL that came before this ADD out of the spool. Not earlier: until here a crash leaves a release that
   * applies to an ADD which nobody was answered. A caller that went away, or a DEL that was spooled since, means that the
   * runtime has given this ADD up: then the DEL stays, and applies to what was taken here.
   */
  async #consumeRelease(args: AddArgs, spooled: string, records: readonly IpRecord[], call: Call): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (!call.signal.aborted && this.#deps.spool.find(args) === spooled) return await this.#deps.spool.remove(args);
    const addresses = records.map(({ spec }) => spec.address).join(', ');
    throw new IpamError(
      'agent-unavailable',
      `the caller went away; ${addresses} is given back by the DEL that follows`,
    );
  }

  /** A record that this agent never answered with may be from a crash between its create and its probe. */
  async #probeUnanswered(found: readonly IpRecord[], call: Call): Promise<IpRecord[]> {
    const { catalog, index, probe } = this.#deps;
    const { pools } = catalog.current();
    const fine: IpRecord[] = [];
    for (const record of found) {
      const pool = index.isAnswered(record) ? undefined : pools.get(record.spec.pool.name);
      if (pool === undefined || (await probe.findConflict(record, pool, call)) === null) fine.push(record);
    }
    return fine;
  }

  /** Its pool is no candidate here. A request that cannot be planned at all judges nothing that is held already. */
  #isOutOfReach(record: IpRecord, { request }: HolderFacts): boolean {
    const survey = attempt(() => surveyPools(request, this.#deps.catalog.current(), this.#deps.options));
    return !(survey instanceof IpamError) && !isCandidate(survey, record);
  }

  /** What is held, and an address of every other family that is wanted. */
  async #complete(
    args: AddArgs,
    facts: HolderFacts,
    held: readonly IpRecord[],
    call: Call,
    slot: Slot,
  ): Promise<IpRecord[]> {
    const { catalog, options, taker, log } = this.#deps;
    const heldFamilies = new Set(held.map(recordFamily));
    const planNow = () =>
      planAllocation(facts.request, args.requestedIPs ?? [], catalog.current(), { ...options, heldFamilies });
    const first = attempt(planNow);
    if (first instanceof IpamError) {
      if (held.length > 0 && args.requestedIPs === undefined) return [...held];
      throw first;
    }
    for (const warning of first.warnings) {
      log.warn({ containerID: args.containerID, ifName: args.ifName, warning }, 'request warning');
    }
    refuseOtherAddress(first.families, held);
    const plans = [first];
    const plan = () => (plans.pop() ?? planNow()).families.filter(({ family }) => !heldFamilies.has(family));
    const holder = { ...facts.holder, attach: 1 };
    return [...held, ...(await taker.take(plan, { holder, cleanGateway: first.cleanGateway, call, slot }))];
  }
}

function attempt<T>(work: () => T): T | IpamError {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof IpamError) return thrown;
    throw thrown;
  }
}

/** The same container, attached to another network than the record was taken for. */
function hasMoved({ spec }: IpRecord, { holder }: HolderFacts): boolean {
  return spec.holder.network !== holder.network;
}

/** A repeated ADD that asks for another address than it holds is a contradiction, not a move. */
function refuseOtherAddress(families: readonly FamilyPlan[], held: readonly IpRecord[]): void {
  for (const record of held) {
    const requested = families.find(({ family }) => family === recordFamily(record))?.requested;
    if (requested === undefined || requested === null) continue;
    const address = formatAddress({ family: requested.pool.family, value: requested.value });
    if (address === record.spec.address) continue;
    const message = `${address} is asked for, but this interface already holds ${record.spec.address}`;
    throw new IpamError('address-refused', message);
  }
}
