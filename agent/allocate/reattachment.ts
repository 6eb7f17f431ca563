import type { NodeIndex } from '#agent/node/node-index.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import type { HolderFacts } from '#agent/sources/holder-source.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isSameNic } from '#pkg/record/holder.ts';
import { type Holder, type IpRecord, mayHaveSandbox, recordFamily } from '#pkg/record/ip-record.ts';

export interface ReattachmentDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly giveBack: GiveBack;
}

type Asking = HolderFacts['holder'];

/** What the caller knows of the holder's records. */
interface Known {
  readonly isReleasePending: boolean;
  /** Of a network that this holder has left. */
  readonly isStray: (record: IpRecord) => boolean;
  /** Landed late, and no ADD was answered with it: the last to be kept. */
  readonly isLeftover: (record: IpRecord) => boolean;
}

/** A repeated ADD: finds what the holder already has and makes it this container's. */
export class Reattachment {
  readonly #deps: ReattachmentDeps;

  constructor(deps: ReattachmentDeps) {
    this.#deps = deps;
  }

  /** Names that a try before this one may have taken: what has landed since is the holder's like any other. */
  async recall(names: readonly string[], asking: Asking): Promise<void> {
    for (const name of names) {
      const found = await this.#deps.ledger.get(name);
      if (found !== null && isHeldBy(found, asking)) this.#deps.index.put(found);
    }
  }

  /**
   * The holder's own Allocated records, one per family, each confirmed by the ledger. With a release still pending
   * the record is changed, so that the release's preconditions can no longer hit it (rule 8). A stray is given back, and
   * of two the one that an ADD was answered with stays (rule 4).
   */
  async reattach(asking: Asking, { isReleasePending, isStray, isLeftover }: Known): Promise<IpRecord[]> {
    const mine = this.#deps.index.ofHolderUid(asking.uid).filter((record) => isHeldBy(record, asking));
    const kept: IpRecord[] = [];
    const { index } = this.#deps;
    const rank = (record: IpRecord) =>
      4 * Number(!isLeftover(record)) + 2 * Number(index.isAnswered(record)) + Number(isOf(record, asking));
    for (const record of mine.toSorted((a, b) => rank(b) - rank(a))) {
      if (isStray(record)) await this.#deps.giveBack.afterUse(record);
      else if (kept.some((it) => recordFamily(it) === recordFamily(record))) await this.#deps.giveBack.atOnce(record);
      else kept.push(...(await this.confirm(record, asking, isReleasePending)));
    }
    return kept;
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
}

/** Suspect too: that its pod is gone was only suspected, and here the pod asks for it. */
function isHeldBy({ spec }: IpRecord, asking: Asking): boolean {
  return mayHaveSandbox(spec.state) && isSameNic(spec.holder, asking);
}

function isOf({ spec }: IpRecord, asking: Asking): boolean {
  return spec.holder.containerID === asking.containerID;
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
