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
import { toAddResponse } from './answer.ts';
import type { FamilyTaker } from './family-taker.ts';
import { type FamilyPlan, type PlanOptions, planAllocation } from './plan.ts';
import type { Reattachment } from './reattachment.ts';

export interface AllocatorDeps {
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly index: NodeIndex;
  readonly reattachment: Reattachment;
  readonly taker: FamilyTaker;
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
    const isReleasePending = spool.has(args);
    const held = await reattachment.reattach(facts.holder, isReleasePending);
    if (held.length < 2 || args.requestedIPs !== undefined) await this.#takeMissing(args, facts, held, call, slot);
    // Not earlier: until here a crash leaves a release that applies to an ADD which nobody was answered.
    if (isReleasePending) await spool.remove(args);
    reach('answer-ready');
    return toAddResponse(index.ofContainer(args.containerID));
  }

  async #takeMissing(
    args: AddArgs,
    facts: HolderFacts,
    held: readonly IpRecord[],
    call: Call,
    slot: Slot,
  ): Promise<void> {
    const { catalog, options, taker, log } = this.#deps;
    const planNow = () => planAllocation(facts.request, args.requestedIPs ?? [], catalog.current(), options);
    const first = planNow();
    const { families, warnings, cleanGateway } = first;
    for (const warning of warnings) {
      log.warn({ containerID: args.containerID, ifName: args.ifName, warning }, 'request warning');
    }
    refuseOtherAddress(families, held);
    const isMissing = ({ family }: FamilyPlan) => !held.some((record) => recordFamily(record) === family);
    const plans = [first];
    const plan = () => (plans.pop() ?? planNow()).families.filter(isMissing);
    await taker.take(plan, { holder: { ...facts.holder, attach: 1 }, cleanGateway, call, slot });
  }
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
