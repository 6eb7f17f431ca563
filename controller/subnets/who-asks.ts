import type { RecordsView } from '#controller/project/records-view.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import { isAlive } from '#pkg/crd/pod-life.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { AskingApplications } from './applications.ts';
import { namedSubnets, readApplication, type WishRules } from './asking-application.ts';
import { type AskingObject, isBuiltIn } from './built-in-kinds.ts';
import { ForeignApplications, faultEvent } from './foreign-applications.ts';
import type { ApplicationReader } from './read-application.ts';
import { ApplicationWatch } from './watch-applications.ts';
import type { WorkloadPods } from './workload-pods.ts';

export interface WhoAsksOptions extends ReconcilerContext {
  readonly records: RecordsView;
  readonly workloads: WorkloadPods;
  readonly reader: Pick<ApplicationReader, 'read' | 'replicasOf'>;
  readonly wishRules: WishRules;
  readonly events: Events;
  readonly readAgainMs: number;
  readonly hasPools: (application: Controller) => boolean;
}

/** A Deployment of the same name and selector adopts it again, with the pods and the pool: a second pool would part them. */
const ORPHANED =
  'no pool is made for a ReplicaSet that its Deployment left behind: create the Deployment again, or remove the label pod-template-hash from the ReplicaSet';

/** Keeps the table of the applications that ask for subnets: those of Kubernetes' own kinds by watch, others through their pods. */
export class WhoAsks implements AsyncDisposable {
  readonly applications = new AskingApplications();
  /** Those for which no pool is planned, with the reason as their fault. */
  readonly unserved = new AskingApplications();
  readonly synced: Promise<void>;
  readonly #options: WhoAsksOptions;
  readonly #foreign: ForeignApplications;
  readonly #watch: ApplicationWatch;

  constructor(options: WhoAsksOptions) {
    const { applications, unserved } = this;
    this.#options = options;
    this.#foreign = new ForeignApplications({
      ...options,
      pods: options.workloads,
      applications,
      unserved,
      rules: options.wishRules,
    });
    this.#watch = new ApplicationWatch({
      ...options,
      onAsking: (object) => this.#onAsking(object),
      onSilent: (object) => {
        applications.remove(object);
        unserved.remove(object);
        this.#foreign.unclaim(object);
      },
    });
    this.synced = this.#watch.synced;
  }

  /** An application of another kind that asks, has a pool, and has no pod that would name it. */
  keep(application: Controller): void {
    this.#foreign.keep(application);
  }

  /** Living pods of the pool are those of the application with this uid, or orphans, which a new controller is about to adopt. */
  isHeldBy(pool: string, applicationUid: string): boolean {
    const { records, workloads } = this.#options;
    return records.ofPool(pool).some(({ spec: { holder } }) => {
      const pod = workloads.get(holder.namespace, holder.name);
      if (pod === null || !isAlive(pod)) return false;
      if (pod.controller === null || pod.controller.uid === applicationUid) return true;
      if (pod.controller.kind !== 'ReplicaSet' && pod.controller.kind !== 'Job') return false;
      const maker = this.#watch.makerOf(pod.controller.uid);
      return maker === null || maker?.uid === applicationUid;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#watch[Symbol.asyncDispose](), this.#foreign[Symbol.asyncDispose]()]);
  }

  #onAsking(object: AskingObject): void {
    const { itself, madeBy, annotations } = object;
    if (!object.isOrphan) this.unserved.remove(itself);
    if (madeBy === null || isBuiltIn(madeBy)) this.#foreign.unclaim(itself);
    if (madeBy !== null) {
      this.applications.remove(itself);
      if (!isBuiltIn(madeBy)) this.#foreign.claim(object, madeBy);
      return;
    }
    if (object.isOrphan) {
      this.applications.remove(itself);
      this.unserved.put({ application: itself, wanted: [], fault: ORPHANED, subnets: namedSubnets(annotations) });
      this.#options.events.emit({ regarding: itself, type: 'Warning', reason: 'OrphanedReplicaSet', note: ORPHANED });
      return;
    }
    const asking = readApplication(itself, object, this.#options.wishRules);
    if (asking.fault !== null) this.#options.events.emit(faultEvent(itself, asking.fault));
    this.applications.put(asking);
  }
}
