import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import type { KnownRecord } from '#controller/cluster-view/record-table.ts';
import type { Evidence } from '#controller/judge/evidence.ts';
import { launchersOf } from '#controller/judge/judge-vmi.ts';
import type { OwnerToRead } from '#controller/judge/verdict.ts';
import { isFinished } from '#pkg/crd/pod-life.ts';
import { isOlder } from '#pkg/kube/objects/kube-object.ts';
import { holderKey, type IpRecord, isTimed, recordFamily } from '#pkg/record/ip-record.ts';
import type { LiveReads } from './live-reads.ts';
import type { Notes, RecordNotes } from './record-notes.ts';

export interface Clocks {
  readonly nowMs: () => number;
  readonly now: () => Date;
}

/** Makes the evidence about a record, from what the watches know or from what the API server says now. */
export class EvidenceSource {
  readonly #view: ClusterView;
  readonly #notes: RecordNotes;
  readonly #clocks: Clocks;

  constructor(view: ClusterView, notes: RecordNotes, clocks: Clocks) {
    this.#view = view;
    this.#notes = notes;
    this.#clocks = clocks;
  }

  known({ record, firstSeenMs }: KnownRecord): Evidence {
    const { namespace, name, node, kind, uid } = record.spec.holder;
    const { pods } = this.#view;
    const launchers = kind === 'VirtualMachineInstance' ? pods.ofVmi(namespace, name) : [];
    const pod =
      kind === 'VirtualMachineInstance' ? (launchers.find((it) => it.uid === uid) ?? null) : pods.get(namespace, name);
    const notes = this.#notes.take(
      record,
      concerned(pod, launchersOf(record, launchers)),
      'watch',
      this.#clocks.nowMs(),
    );
    const claimants = this.#claimants(record, pods.withAddress(record.spec.address));
    const facts = { pod, launchers, claimants, node: this.#view.nodes.sighting(node) };
    return this.#evidence(record, firstSeenMs, notes, facts);
  }

  /** Reads come after the record's resourceVersion was seen: what changes from then on changes that too, or does not matter. */
  async live({ record, firstSeenMs }: KnownRecord, reads: LiveReads): Promise<Evidence> {
    const { namespace, name, node, kind, uid } = record.spec.holder;
    if (isTimed(record.spec.state)) return this.#resting(record, firstSeenMs, reads);
    const isVmi = kind === 'VirtualMachineInstance';
    const [launchers, named, sighting, claimants] = await Promise.all([
      isVmi ? reads.launchers(namespace, name, firstSeenMs) : [],
      isVmi ? null : reads.pod(namespace, name, firstSeenMs),
      reads.node(node, this.#view.nodes.sighting(node), firstSeenMs),
      this.#readClaimants(record, firstSeenMs, reads),
    ]);
    const pod = isVmi ? (launchers.find((it) => it.uid === uid) ?? null) : named;
    const notes = this.#notes.take(
      record,
      concerned(pod, launchersOf(record, launchers)),
      'read',
      this.#clocks.nowMs(),
    );
    return this.#evidence(record, firstSeenMs, notes, { pod, launchers, claimants, node: sighting });
  }

  /** It has no holder any more: a foreign host, of kind Conflict, is not in any namespace. Only a pod that shows the address counts. */
  async #resting(record: IpRecord, firstSeenMs: number, reads: LiveReads): Promise<Evidence> {
    const claimants = await this.#readClaimants(record, firstSeenMs, reads);
    const node = this.#view.nodes.sighting(record.spec.holder.node);
    const notes = this.#notes.take(record, [], 'read', this.#clocks.nowMs());
    return this.#evidence(record, firstSeenMs, notes, { pod: null, launchers: [], claimants, node });
  }

  /** The same with what the sticky owner says now. */
  async withOwner(what: OwnerToRead, known: KnownRecord, evidence: Evidence, reads: LiveReads): Promise<Evidence> {
    const { record, firstSeenMs } = known;
    const owner = await reads.owner(what, record, firstSeenMs);
    return { ...evidence, owner, ...this.#notes.noteOwner(record, owner, this.#clocks.nowMs()) };
  }

  async #readClaimants(record: IpRecord, seenMs: number, reads: LiveReads): Promise<readonly PodFacts[]> {
    const { address } = record.spec;
    const known = this.#claimants(record, this.#view.pods.withAddress(address));
    const read = await Promise.all(known.map(({ namespace, name }) => reads.pod(namespace, name, seenMs)));
    const living = read.filter((pod) => pod !== null).filter((pod) => pod.podIPs.includes(address));
    return this.#claimants(record, living);
  }

  /** A pod that has another record of this number has it in that domain. */
  #claimants(record: IpRecord, pods: readonly PodFacts[]): readonly PodFacts[] {
    if (pods.length === 0) return pods;
    const others = this.#view.records.ofAddress(record.spec.address).filter((it) => it.record.name !== record.name);
    const uids = new Set(others.map((it) => it.record.spec.holder.uid));
    return pods.filter((pod) => !isFinished(pod) && !uids.has(pod.uid));
  }

  #evidence(
    record: IpRecord,
    firstSeenMs: number,
    notes: Notes,
    facts: Pick<Evidence, 'pod' | 'launchers' | 'claimants' | 'node'>,
  ): Evidence {
    const nowMs = this.#clocks.nowMs();
    const wallMs = this.#clocks.now().getTime();
    const agent = this.#view.agents.sighting(record.spec.holder.node);
    const { steadySinceMs } = this.#view;
    const times = { nowMs, wallMs, steadySinceMs, firstSeenMs };
    return { ...times, ...facts, agent, owner: 'unread', ...notes, ...this.#waiting(record) };
  }

  #waiting(record: IpRecord): Pick<Evidence, 'retainedBefore' | 'isSuperseded'> {
    if (record.spec.state !== 'Retained') return { retainedBefore: 0, isSuperseded: false };
    const { records } = this.#view;
    const { namespace, name } = record.spec.holder;
    const others = [...records.namesOfHolder(namespace, name)].flatMap((it) => records.get(it)?.record ?? []);
    return {
      retainedBefore: records.retainedBefore(record),
      isSuperseded: others.some((other) => supersedes(other, record)),
    };
  }
}

/** Another address of the same holder, on the same interface and in the same family, that was written later. */
function supersedes(other: IpRecord, { name, resourceVersion, spec }: IpRecord): boolean {
  if (other.name === name || !(other.spec.state === 'Retained' || other.spec.state === 'Allocated')) return false;
  const family = recordFamily({ spec });
  const isSameKey =
    recordFamily(other) === family && holderKey(other.spec.holder, family) === holderKey(spec.holder, family);
  return isSameKey && isOlder(resourceVersion, other.resourceVersion);
}

function concerned(pod: PodFacts | null, launchers: readonly PodFacts[]): readonly PodFacts[] {
  return launchers.length === 0 && pod !== null ? [pod] : launchers;
}
