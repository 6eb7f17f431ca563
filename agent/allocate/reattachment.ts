import type { Call } from '#agent/calls/call.ts';
import { isLeftBehind, type JournalEntry, recordNameOf } from '#agent/debts/journal-entry.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import {
  type Holder,
  holderKey,
  type IpRecord,
  isSameNic,
  mayHaveSandbox,
  recordFamily,
} from '#pkg/record/ip-record.ts';
import type { AddCall, Debts } from './add-call.ts';
import type { AddressProbe } from './address-probe.ts';
import { isCandidate, type PlanOptions, trySurvey } from './plan.ts';

export interface ReattachmentDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly catalog: PoolCatalog;
  readonly options: PlanOptions;
  readonly giveBack: GiveBack;
  readonly probe: AddressProbe;
}

type Asking = HolderFacts['holder'];

/** A repeated ADD: finds what the holder already has and makes it this container's. */
export class Reattachment {
  readonly #deps: ReattachmentDeps;

  constructor(deps: ReattachmentDeps) {
    this.#deps = deps;
  }

  /**
   * The holder's own Allocated records, one per family, each confirmed by the ledger. With a release still pending
   * the record is changed, so that the release's preconditions can no longer hit it (rule 8). A record of a network that the
   * holder has left is given back, and of two records one stays (rule 4).
   */
  async reattach({ facts, call }: AddCall, { spooled, unsettled }: Debts): Promise<IpRecord[]> {
    const { index, giveBack } = this.#deps;
    const asking = facts.holder;
    await this.#recall(unsettled, asking);
    if (facts.hadSandbox) await this.#recallUnknown(asking);
    const isReleasePending = spooled !== null || unsettled.length > 0;
    const mine = index.ofHolderUid(asking.uid).filter((record) => isHeldBy(record, asking));
    const kept: IpRecord[] = [];
    for (const record of this.#bestFirst(mine, asking, unsettled)) {
      if (this.#isStray(record, facts)) await giveBack.afterUse(record);
      else if (kept.some((it) => recordFamily(it) === recordFamily(record))) await giveBack.atOnce(record);
      else kept.push(...(await this.confirm(record, asking, isReleasePending)));
    }
    return await this.#probeUnanswered(kept, facts, call);
  }

  /** The record as this container's, or nothing if it is not this holder's any more. */
  async confirm(seen: IpRecord, asking: Asking, isReleasePending: boolean): Promise<IpRecord[]> {
    const { ledger, index } = this.#deps;
    const stored = await ledger.get(seen.name);
    if (stored === null || stored.uid !== seen.uid || !isHeldBy(stored, asking)) {
      index.drop(seen);
      return [];
    }
    const isInUse = stored.spec.state === 'Allocated';
    if (isInUse && !isReleasePending && isSameAttachment(stored.spec.holder, asking)) {
      index.put(stored);
      return [stored];
    }
    const holder: Holder = { ...asking, attachGeneration: stored.spec.holder.attachGeneration + 1 };
    const outcome = await ledger.amend(stored, { ...stored.spec, state: 'Allocated', holder });
    if (!outcome.done) {
      index.drop(seen);
      return [];
    }
    index.put(outcome.record);
    return [outcome.record];
  }

  /** An earlier try may have taken these names: a write that has landed since made a record of this holder like any other. */
  async #recall(unsettled: readonly JournalEntry[], asking: Asking): Promise<void> {
    for (const entry of unsettled) {
      const found = await this.#deps.ledger.get(recordNameOf(entry));
      if (found !== null && isHeldBy(found, asking)) this.#deps.index.put(found);
    }
  }

  /** Records of this holder that the agent did not write, as an import makes them, before a second address is taken. */
  async #recallUnknown(asking: Asking): Promise<void> {
    const { ledger, index } = this.#deps;
    if (index.ofHolderUid(asking.uid).some((record) => isHeldBy(record, asking))) return;
    const found = await Promise.all(([4, 6] as const).map((family) => ledger.byHolder(holderKey(asking, family))));
    for (const record of found.flat()) if (isHeldBy(record, asking)) index.put(record);
  }

  /** The first rule on which two records differ decides which of them stays. */
  #bestFirst(records: readonly IpRecord[], asking: Asking, unsettled: readonly JournalEntry[]): IpRecord[] {
    const rules: readonly ((record: IpRecord) => boolean)[] = [
      // An abandoned write that landed late, and that no ADD was answered with, stays last.
      (record) => !unsettled.some((entry) => isLeftBehind(record, entry)),
      (record) => this.#deps.index.isAnswered(record),
      (record) => record.spec.holder.containerID === asking.containerID,
    ];
    return records.toSorted((a, b) => {
      const rule = rules.find((isBetter) => isBetter(a) !== isBetter(b));
      if (rule === undefined) return 0;
      return rule(a) ? -1 : 1;
    });
  }

  /** The same container is attached to another network now, and the record's pool is no candidate there. */
  #isStray(record: IpRecord, { holder, request }: HolderFacts): boolean {
    const { network } = record.spec.holder;
    // A network that is not known says nothing.
    if (network === undefined || holder.network === undefined || network === holder.network) return false;
    const survey = trySurvey(request, this.#deps.catalog.current(), this.#deps.options);
    return survey !== null && !isCandidate(survey, record);
  }

  /** A record that this agent never answered with may be from a crash between its create and its probe. */
  async #probeUnanswered(found: readonly IpRecord[], facts: HolderFacts, call: Call): Promise<IpRecord[]> {
    const { catalog, index, probe } = this.#deps;
    const { pools } = catalog.current();
    const usable: IpRecord[] = [];
    for (const record of found) {
      const pool = index.isAnswered(record) ? undefined : pools.get(record.spec.pool.name);
      if (pool !== undefined && facts.isSticky) {
        if (!facts.isMigrationTarget) await probe.refuseConflict(record, pool, call);
      } else if (pool !== undefined && (await probe.findConflict(record, pool, call)) !== null) continue;
      usable.push(record);
    }
    return usable;
  }
}

/** Suspect records too: the holder's end was only suspected, and here its pod asks for the address. */
function isHeldBy({ spec }: IpRecord, asking: Asking): boolean {
  return mayHaveSandbox(spec.state) && isSameNic(spec.holder, asking);
}

/** Older records lack some of it. The next write that is needed anyway fills it in: it is not worth one of its own. */
const EVIDENCE = ['netnsInode', 'bootID', 'machineID'] as const satisfies readonly (keyof Holder)[];

function isSameAttachment(holder: Holder, asking: Asking): boolean {
  return (
    holder.containerID === asking.containerID &&
    holder.netns === asking.netns &&
    holder.network === asking.network &&
    holder.node === asking.node &&
    EVIDENCE.every((field) => holder[field] === undefined || holder[field] === asking[field])
  );
}
