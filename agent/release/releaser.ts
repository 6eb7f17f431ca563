import { type Attachment, attachmentKey, type KeyedQueue } from '#agent/calls/call.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import type { Spool } from '#agent/debts/spool.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { BatchDelArgs, DelArgs } from '#pkg/agentapi/wire.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { GiveBack, GivenBack } from './give-back.ts';
import type { DecideRelease, ReleaseCause } from './release-decision.ts';

export interface ReleaserDeps {
  readonly index: NodeIndex;
  readonly giveBack: GiveBack;
  readonly spool: Spool;
  readonly queue: KeyedQueue;
  readonly judge: DecideRelease;
  readonly failpoint?: Failpoint | undefined;
  readonly nowMs: () => number;
  /** How long a DEL waited for those before it. */
  readonly onTurn: (waitedMs: number) => void;
}

export interface Released {
  readonly record: IpRecord;
  readonly outcome: GivenBack | 'kept';
}

/** What a DEL names. */
interface Leaving extends Attachment {
  readonly podUID?: string;
}

interface Kept {
  readonly record: IpRecord;
  /** An ADD that was answered with it since then has written it into the index again. */
  readonly writtenAtMs: number | null;
}

/** DEL: by container and interface alone, whatever became of pod and namespace. Nothing there is success. */
export class Releaser {
  readonly #deps: ReleaserDeps;
  /** Records of sandboxes that are gone while their pod is alive, by the pod's uid and the record's name. */
  readonly #kept = new Map<string, Map<string, Kept>>();

  constructor(deps: ReleaserDeps) {
    this.#deps = deps;
  }

  async del(args: DelArgs): Promise<Released[]> {
    const { failpoint, queue, nowMs, onTurn } = this.#deps;
    failpoint?.('del-received');
    const receivedAtMs = nowMs();
    return await queue.run([attachmentKey(args)], () => {
      onTurn(nowMs() - receivedAtMs);
      return this.#releaseAll(args);
    });
  }

  /** Every interface of a container at once, as Spiderpool's plugins ask after a conflict: also while its pod lives. */
  async delContainer({ containerID }: BatchDelArgs): Promise<Released[]> {
    const names = new Set(this.#deps.index.ofContainer(containerID).map(({ spec }) => spec.holder.interface));
    const released = await Promise.all(
      [...names].map((ifName) =>
        this.#deps.queue.run([attachmentKey({ containerID, ifName })], () =>
          this.#releaseAll({ containerID, ifName }, 'conflict'),
        ),
      ),
    );
    return released.flat();
  }

  /** A DEL that the plugin spooled. Read inside the queue: an ADD before us may have consumed it. */
  async delSpooled(name: string, attachment: Attachment): Promise<Released[] | null> {
    return await this.#deps.queue.run([attachmentKey(attachment)], async () => {
      const entry = await this.#deps.spool.read(name);
      if (entry.kind !== 'del') return null;
      const released = await this.#releaseAll(entry.args);
      this.#deps.failpoint?.('spool-entry-applied');
      await this.#deps.spool.remove(entry.args);
      return released;
    });
  }

  /** Spools the DEL until the agent knows what the container holds. */
  async postpone(args: DelArgs): Promise<void> {
    await this.#deps.spool.keep(args);
  }

  /** The pod will have no sandbox again: what was kept for one goes now, unless a sandbox has taken it up (rule 8). */
  async podEnded(uid: string): Promise<Released[]> {
    const kept = [...(this.#kept.get(uid)?.values() ?? [])];
    this.#kept.delete(uid);
    const { index, queue } = this.#deps;
    const released = await Promise.all(
      kept.map(({ record, writtenAtMs }) =>
        queue.run([attachmentKey(attachmentOf(record))], async () =>
          index.writtenAtMs(record.name) === writtenAtMs ? [{ record, outcome: await this.#release(record) }] : [],
        ),
      ),
    );
    return released.flat();
  }

  /**
   * One record that was judged unused at `judgedAtMs`. An ADD that was answered with it since then, even without
   * changing it, has refreshed the index: then the judgement is void (rule 8).
   */
  async releaseJudged(
    seen: IpRecord,
    judgedAtMs: number,
    how: 'after-use' | 'at-once' = 'after-use',
  ): Promise<Released['outcome']> {
    const { index, queue, giveBack } = this.#deps;
    return await queue.run([attachmentKey(attachmentOf(seen))], async () => {
      const writtenAtMs = index.writtenAtMs(seen.name);
      if (writtenAtMs === null) return 'gone';
      if (writtenAtMs >= judgedAtMs) return 'changed';
      return how === 'at-once' ? await giveBack.atOnce(seen) : await this.#release(seen);
    });
  }

  /**
   * Releases for an operator a record that was shown at `shownAtMs`. A record that another process wrote for this host may not be
   * in the index yet: then no ADD was answered with it, and the ledger says whether it is there.
   */
  async releaseShown(seen: IpRecord, shownAtMs: number): Promise<GivenBack> {
    const { index, queue, giveBack } = this.#deps;
    return await queue.run([attachmentKey(attachmentOf(seen))], async () => {
      const writtenAtMs = index.writtenAtMs(seen.name);
      if (writtenAtMs !== null && writtenAtMs >= shownAtMs) return 'changed';
      return await giveBack.atOnce(seen);
    });
  }

  /** Releases all in parallel: the others are released even if one fails. */
  async #releaseAll({ containerID, ifName, podUID = '' }: Leaving, cause?: ReleaseCause): Promise<Released[]> {
    const { index } = this.#deps;
    const adopted = podUID === '' ? [] : index.ofHolderUid(podUID).filter((it) => isAdopted(it, ifName));
    const records = [...index.ofContainer(containerID, ifName), ...adopted];
    const releasing = records.map(async (record) => ({ record, outcome: await this.#release(record, cause) }));
    return (await Promise.allSettled(releasing)).map((settled) => {
      if (settled.status === 'rejected') throw settled.reason;
      return settled.value;
    });
  }

  async #release(record: IpRecord, cause: ReleaseCause = 'sandbox-gone'): Promise<Released['outcome']> {
    const { giveBack, judge } = this.#deps;
    const decision = judge(record, cause);
    // After a conflict nothing is noted: the sandbox is still there, and what is noted leaves at the start of its pod's grace.
    if (decision === 'keep') return cause === 'conflict' ? 'kept' : this.#keep(record);
    return decision === 'retain' ? await giveBack.retain(record) : await giveBack.afterUse(record);
  }

  /** A record without a container may be of another sandbox than the one that left: the next ADD or the controller decides. */
  #keep(record: IpRecord): 'kept' {
    const { uid = '', containerID } = record.spec.holder;
    if (containerID === undefined) return 'kept';
    const kept = this.#kept.get(uid) ?? new Map<string, Kept>();
    this.#kept.set(uid, kept.set(record.name, { record, writtenAtMs: this.#deps.index.writtenAtMs(record.name) }));
    return 'kept';
  }
}

function attachmentOf({ spec }: IpRecord): Attachment {
  const { containerID = '', interface: ifName } = spec.holder;
  return { containerID, ifName };
}

/** Taken over from Spiderpool, which knew no containers: until the next ADD its pod and interface stand for them. */
function isAdopted({ spec }: IpRecord, ifName: string): boolean {
  const { holder, state } = spec;
  return state === 'Allocated' && holder.containerID === undefined && holder.interface === ifName;
}
