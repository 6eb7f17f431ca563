import type { NodePod } from '#agent/sources/pods.ts';
import { POD_MARKS } from '#pkg/crd/pod-marks.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { STATEFUL_SETS, VMI_MIGRATIONS, VMIS } from '#pkg/kube/objects/sticky-owners.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { type Holder, isStatefulSet, isVirtualMachine, ordinalOf, type StickySwitches } from '#pkg/record/ip-record.ts';
import { absence, isObjectName } from './absence.ts';
import { type ReadObject, type SeenOwner, toSeenMigration, toSeenOwner } from './seen-owner.ts';
import { SharedReads } from './shared-reads.ts';
import { whyNoTarget, whySetRefuses, whyVmiRefuses } from './why-refused.ts';

/** What follows for the pod from the owner that it names. */
export interface Standing {
  /** Whether the pod keeps its addresses (rule 7). Absent: it names no owner that could make it so, and nothing was read. */
  readonly sticky?: boolean;
  /** The name of the VMI whose launcher the pod is; null: the pod is a holder under its own name. */
  readonly vmi: string | null;
  /** With its uid, where it was read and is the pod's. */
  readonly owner?: NonNullable<Holder['owner']>;
  readonly isMigrationTarget: boolean;
  /** What the pod says about itself and is not true. */
  readonly refused: readonly string[];
}

const FRESH_MS = 10_000;
/** More owners than pods that one node starts in that time. */
const MOST_OWNERS = 500;

/** Rule 10: what a pod says about its owner counts only after a read of that owner. */
export class OwnerVerifier {
  readonly #read: ReadObject;
  readonly #switches: StickySwitches;
  readonly #reads: SharedReads<Outcome<SeenOwner>>;

  constructor(read: ReadObject, switches: StickySwitches, nowMs: () => number) {
    this.#read = read;
    this.#switches = switches;
    this.#reads = new SharedReads({ freshMs: FRESH_MS, most: MOST_OWNERS, nowMs });
  }

  /** Throws `api-server-unavailable` where the answer is neither yes nor no. Pods without a sticky owner cost no read. */
  async verify(pod: NodePod, top: Controller): Promise<Standing> {
    const { enableStatefulSet, enableKubevirtStaticIP } = this.#switches;
    const isLauncher = enableKubevirtStaticIP && isVirtualMachine(top);
    const isReplica = enableStatefulSet && isStatefulSet(top) && ordinalOf(pod.name, top.name) !== null;
    if (!(isLauncher || isReplica)) return plain(top);
    const why = claimProblem(pod, top);
    if (why !== null) return refuse(top, why);
    return isLauncher ? await this.#verifyLauncher(pod, top) : await this.#verifyReplica(pod, top);
  }

  async #verifyReplica(pod: NodePod, set: Controller): Promise<Standing> {
    const seen = await this.#findSet(set, (it) => whySetRefuses(pod, set, it) === null);
    if (!seen.ok) return refuse(set, absence(STATEFUL_SETS, set, seen));
    const why = whySetRefuses(pod, set, seen.object);
    return why === null ? belongsTo(set) : refuse(set, why);
  }

  async #verifyLauncher(pod: NodePod, vmi: Controller): Promise<Standing> {
    const job = pod.annotations[POD_MARKS.migrationJob];
    // Always read: a VMI has one launcher pod at a time, and its addresses must not go to a pod that comes after its end.
    const seen = await this.#readOwner(VMIS, vmi);
    if (!seen.ok) return refuse(vmi, absence(VMIS, vmi, seen));
    const why = whyVmiRefuses(pod, vmi, seen.object);
    if (why !== null) return refuse(vmi, why);
    const launcher: Standing = { ...belongsTo(vmi), vmi: vmi.name };
    if (job === undefined) return launcher;
    const noTarget = await this.#judgeJob(pod, job, { ...seen.object, name: vmi.name });
    if (noTarget === null) return { ...launcher, isMigrationTarget: true };
    const mark = `annotation ${POD_MARKS.migrationJob} does not count: ${noTarget}`;
    return { ...launcher, refused: [`${mark}; the pod is not answered with the address of the running VMI`] };
  }

  async #judgeJob(pod: NodePod, name: string, vmi: SeenOwner & { readonly name: string }): Promise<string | null> {
    const at = { namespace: pod.namespace, name };
    const migration = `VirtualMachineInstanceMigration ${pod.namespace}/${name}`;
    if (!isObjectName(name)) return 'it names no object';
    const read = await this.#read(VMI_MIGRATIONS, at);
    if (!read.ok) return absence(VMI_MIGRATIONS, at, read);
    const why = whyNoTarget(pod, vmi, toSeenMigration(read.object));
    return why === null ? null : `${migration}: ${why}`;
  }

  /** The pods of one set come at once, and share a read. */
  #findSet(set: Controller, isEnough: (set: SeenOwner) => boolean): Promise<Outcome<SeenOwner>> {
    // Not by the uid alone: a tenant may write any uid into a pod.
    const key = JSON.stringify([set.namespace, set.name, set.uid]);
    const read = () => this.#readOwner(STATEFUL_SETS, set);
    return this.#reads.find(key, read, (outcome) => outcome.ok && isEnough(outcome.object));
  }

  async #readOwner(resource: Resource, { namespace, name }: Controller): Promise<Outcome<SeenOwner>> {
    const outcome = await this.#read(resource, { namespace, name });
    return outcome.ok ? { ok: true, object: toSeenOwner(outcome.object) } : outcome;
  }
}

/** The owner must control the pod itself. The owner reference of a ReplicaSet or Job in between is written by a tenant too. */
function claimProblem({ controller }: NodePod, top: Controller): string | null {
  if (!isObjectName(top.name)) return `its name ${quote(top.name)} is not the name of an object`;
  if (controller?.uid === top.uid && controller.kind === top.kind && controller.name === top.name) return null;
  return `${top.kind} ${top.namespace}/${top.name} does not control the pod itself`;
}

function plain({ apiVersion, kind, name }: Controller): Standing {
  return { vmi: null, owner: { apiVersion, kind, name }, isMigrationTarget: false, refused: [] };
}

function belongsTo(top: Controller): Standing {
  const { apiVersion, kind, name, uid } = top;
  return { ...plain(top), sticky: true, owner: { apiVersion, kind, name, uid } };
}

function refuse(top: Controller, why: string): Standing {
  const note = `the owner that the pod names does not count: ${why}; its addresses are not kept for a next pod`;
  return { ...plain(top), sticky: false, refused: [note] };
}
