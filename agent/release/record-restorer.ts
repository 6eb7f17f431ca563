import type { Logger } from 'pino';
import { attachmentKey, type KeyedQueue, nicKey } from '#agent/calls/call.ts';
import type { Journal } from '#agent/debts/journal.ts';
import type { AnsweredStore, LostAddress } from '#agent/node/answered-store.ts';
import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { Pods } from '#agent/sources/pods.ts';
import { type IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { describeHolder, type IpRecord, isSameHolder, isSameNic, isTimed, recordKey } from '#pkg/record/ip-record.ts';

export interface RecordRestorerDeps {
  /** Not the ledger that journals abandoned creates: a create that arrives late here has a live sandbox, and must not be released. */
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly index: NodeIndex;
  readonly answered: AnsweredStore;
  readonly queue: KeyedQueue;
  readonly pods: Pick<Pods, 'read' | 'known'>;
  readonly node: string;
  readonly look: (record: IpRecord) => Promise<NetnsLook>;
  readonly onRestored: (record: IpRecord) => void;
  /** Called again at each refresh while it is so. */
  readonly onLost: (lost: LostAddress) => void;
  /** The address is Cooling or Quarantined after an earlier holder, so its record can be created only when that has ended. */
  readonly onResting: (resting: IpRecord) => void;
  readonly log: Logger;
}

/** `protect`: the pod has ended, but its sandbox still has a link and may answer. */
type Fate = 'forget' | 'wait' | 'restore' | 'protect';

/**
 * Rule 9: a record that an ADD was answered with, that this agent did not give back, and that the ledger does not have any
 * more is created again while its sandbox lives.
 */
export class RecordRestorer {
  readonly #deps: RecordRestorerDeps;

  constructor(deps: RecordRestorerDeps) {
    this.#deps = deps;
  }

  /**
   * `listed`: this node's records by name, as the ledger had them at `listedAtMs`. Throws where it must be tried again, after
   * all the others had their turn.
   */
  async restore(listed: ReadonlyMap<string, IpRecord>, listedAtMs: number): Promise<void> {
    const { answered, index, onLost } = this.#deps;
    const lost: LostAddress[] = [];
    const failed: IpamError[] = [];
    const outdated = new Set<IpRecord>();
    for (const record of answered.all()) {
      const known = listed.get(record.name);
      const isNewer = (index.writtenAtMs(record.name) ?? Number.NEGATIVE_INFINITY) >= listedAtMs;
      if (known === undefined && isNewer) continue;
      const isOutdated = known !== undefined && isOlderAttachment(known, record);
      if (isOutdated) outdated.add(known);
      else if (known !== undefined && isSameHolder(known.spec.holder, record.spec.holder)) continue;
      const work = () => (isOutdated ? this.#renew(record) : this.#restore(record));
      const now = await this.#inTurn(record, work).catch((thrown: unknown) => {
        failed.push(toIpamError(thrown));
        return null;
      });
      if (now !== null) lost.push({ record, now });
    }
    answered.noteLost(lost);
    for (const it of lost) onLost(it);
    this.#keepListed([...listed.values()].filter((it) => !outdated.has(it)));
    const [first] = failed;
    if (first !== undefined) throw first;
  }

  /** Keeps records of living pods that an earlier agent answered: an older version, or one whose files are gone. */
  #keepListed(listed: readonly IpRecord[]): void {
    const { answered, pods } = this.#deps;
    const living = listed.filter(
      ({ spec }) => spec.state === 'Allocated' && pods.known(spec.holder.uid ?? '')?.isAlive === true,
    );
    // A second record of an interface is a leftover, and must not replace the one that an ADD was answered with.
    const known = new Set(living.filter(({ name }) => answered.knows(name)).map(recordKey));
    for (const record of living)
      if (answered.knows(record.name) || !known.has(recordKey(record))) answered.keep(record);
  }

  async #inTurn(record: IpRecord, work: () => Promise<IpRecord | null>): Promise<IpRecord | null> {
    const { holder } = record.spec;
    const { containerID = '', interface: ifName } = holder;
    try {
      return await this.#deps.queue.run([attachmentKey({ containerID, ifName }), nicKey(holder)], work);
    } catch (thrown) {
      const error = toIpamError(thrown);
      if (REASONS[error.reason].retry) throw error;
      this.#deps.log.error({ address: record.spec.address, why: error.message }, 'lost record cannot be created again');
      return null;
    }
  }

  /**
   * A restore of etcd brought back the record of an earlier sandbox of the same pod. That one is gone, so the address would
   * be released while the sandbox that this agent answered last still uses it. Or the controller created a lost record again:
   * it knows no sandbox, and the DEL would not find the record.
   */
  async #renew(record: IpRecord): Promise<null> {
    const { ledger, index, answered, look, log } = this.#deps;
    if (!answered.has(record)) return null;
    const seen = await look(record);
    if (seen === 'gone') answered.forget(record.name);
    if (seen !== 'there' && seen !== 'bare') return null;
    const found = await ledger.get(record.name);
    if (found === null || !isOlderAttachment(found, record)) return null;
    const attachGeneration = Math.max(record.spec.holder.attachGeneration, found.spec.holder.attachGeneration + 1);
    const outcome = await ledger.amend(found, { ...found.spec, holder: { ...record.spec.holder, attachGeneration } });
    if (!outcome.done) return null;
    index.put(outcome.record);
    index.markAnswered(outcome.record);
    log.warn({ address: found.spec.address, holder: describeHolder(found) }, 'record names its live sandbox again');
    return null;
  }

  /** Returns the record of the holder that has the address by now; null where nothing is wrong. */
  async #restore(record: IpRecord): Promise<IpRecord | null> {
    const { ledger, index, answered, node, onRestored, onResting, log } = this.#deps;
    if (!answered.has(record)) return null;
    const fate = await this.#judge(record);
    if (fate === 'forget') answered.forget(record.name);
    if (fate === 'forget' || fate === 'wait') return null;
    await this.#dropAbandoned(record);
    const { taken, record: found } = await ledger.create(record.spec, { tellsHolder: true });
    if (found === null) {
      // No other holder can take the address meanwhile, and an agent must not stop for one object.
      log.error({ address: record.spec.address }, 'lost record exists, but cannot be read or is being deleted');
      return null;
    }
    const { holder } = found.spec;
    if (taken || (isSameNic(holder, record.spec.holder) && holder.node === node)) {
      index.put(found);
      index.markAnswered(found);
      if (!taken) return null;
      onRestored(found);
      log.warn({ address: found.spec.address, holder: describeHolder(found) }, 'lost record created again');
      return null;
    }
    if (isTimed(found.spec.state)) {
      onResting(found);
      return null;
    }
    // If the pod has ended, its address may have been taken over as a Suspect address, after a probe.
    if (!isSameHolder(holder, record.spec.holder)) return fate === 'restore' ? found : null;
    // The same workload has it on another node: a virtual machine that migrated, or the next pod of a StatefulSet.
    answered.forget(record.name);
    return null;
  }

  /** An abandoned create of this interface would release the record that is created now, as one that no ADD was answered with. */
  async #dropAbandoned({ name, spec }: IpRecord): Promise<void> {
    const { journal } = this.#deps;
    const { containerID = '', interface: ifName, uid = '' } = spec.holder;
    for (const entry of journal.ofNic({ containerID, ifName }, uid)) {
      if (entry.kind === 'abandoned' && entry.name === name) await journal.remove(entry);
    }
  }

  /** The pod is read from the API server, because the cache may be behind. A static pod runs without its object. */
  async #judge(record: IpRecord): Promise<Fate> {
    const { pods, look } = this.#deps;
    const { holder } = record.spec;
    const seen = await look(record);
    const isThere = seen === 'there' || seen === 'bare';
    if (seen === 'gone' || (seen === 'path-gone' && holder.netnsInode === undefined)) return 'forget';
    if (holder.static === true) return isThere ? 'restore' : 'wait';
    const { namespace, uid = '' } = holder;
    const pod = await pods.read({ namespace, name: pods.known(uid)?.name ?? holder.name, uid });
    if (pod?.uid === uid && pod.isAlive) return 'restore';
    // The pod may be missing because of the restore. Until its kubelet has stopped it, the node decides (rule 6).
    if (seen === 'there') return 'protect';
    return isThere ? 'wait' : 'forget';
  }
}

/** Whether the record is of an earlier sandbox of the same interface: each sandbox has a higher `attachGeneration` than the one before. */
function isOlderAttachment({ spec: { holder } }: IpRecord, answered: IpRecord): boolean {
  const { containerID, attachGeneration } = answered.spec.holder;
  const isOther = isSameNic(holder, answered.spec.holder) && holder.containerID !== containerID;
  return isOther && (holder.containerID === undefined || holder.attachGeneration < attachGeneration);
}
