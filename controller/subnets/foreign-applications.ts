import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { SharedPlaces } from '#pkg/concurrency/shared-places.ts';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import { isAlive } from '#pkg/crd/pod-life.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { type AskingApplications, applicationKey } from './applications.ts';
import { namedSubnets, readApplication, type WishRules } from './asking-application.ts';
import { type AskingObject, isBuiltIn, templateAnnotations } from './built-in-kinds.ts';
import { hasTemplate } from './pool-owners.ts';
import type { ApplicationReader, Unread } from './read-application.ts';
import { type Refused, RefusedApplications } from './refused-applications.ts';
import type { WorkloadPods } from './workload-pods.ts';

export interface ForeignApplicationsOptions extends ReconcilerContext {
  readonly pods: WorkloadPods;
  readonly applications: AskingApplications;
  /** Gets those for which no pool can be planned, with the reason. */
  readonly unserved: AskingApplications;
  readonly reader: Pick<ApplicationReader, 'read' | 'replicasOf'>;
  readonly rules: WishRules;
  readonly events: Events;
  /** Whether a pool was made for it. */
  readonly hasPools: (application: Controller) => boolean;
  /** There is no event when such an application is scaled, or when its kind may be read from now on, so it is read again. */
  readonly readAgainMs: number;
}

/** An application of a kind that Kubernetes does not bring along, as its pods or ReplicaSets name it. */
interface Claimed {
  readonly application: Controller;
  /** As a pod or a ReplicaSet of it says, or said last; null: none did since this process leads. */
  annotations: Labels | null;
  /** The pods, ReplicaSets and Jobs that name it. There may be none while it has a pool. */
  readonly by: Set<string>;
}

/** ClusterRoles with it are part of the role `ipledger-controller-applications` (deploy/rbac.yaml). */
const ROLE_LABEL = 'ipledger.io/aggregate-to-controller';
const DEBOUNCE_MS = 200;
/** A tenant may give each pod another owner, so the owners of one namespace must leave room for those of others. */
const LIMITS = { inAll: 5_000, inGroup: 500 };
const NO_ROOM = {
  inGroup: `no pool is made: pods of this namespace that ask for subnets name too many applications of other kinds (at most ${LIMITS.inGroup} are served)`,
  inAll: `no pool is made: pods that ask for subnets name too many applications of other kinds (at most ${LIMITS.inAll} are served in all namespaces, and a namespace with fewer of them goes first)`,
};
const NOT_THERE = 'pods name it as their owner, and it does not exist, or exists with another uid';
/** At most 50 of them are read again in a second. */
const READ_ONE_MS = 20;

/**
 * Finds applications of other kinds through their pods. What a pod says of its owner is a tenant's word: the owner is read, uncached,
 * before a pool is made for it.
 */
export class ForeignApplications implements AsyncDisposable {
  readonly #options: ForeignApplicationsOptions;
  readonly #claimed = new Map<string, Claimed>();
  /** What each pod, ReplicaSet or Job names now. */
  readonly #keyOf = new Map<string, string>();
  /** The groups are namespaces. */
  readonly #places = new SharedPlaces(LIMITS);
  readonly #refused = new RefusedApplications();
  readonly #reconciler: AsyncDisposable;
  #enqueue: (key: string) => void = () => {};

  constructor(options: ForeignApplicationsOptions) {
    this.#options = options;
    this.#reconciler = startReconciler(options, {
      kind: 'application',
      failed: 'application not read',
      debounceMs: DEBOUNCE_MS,
      caches: [options.pods],
      watch: (enqueue) => {
        this.#enqueue = enqueue;
        for (const key of this.#claimed.keys()) enqueue(key);
        for (const pod of options.pods.all()) this.#onPod(null, pod);
        return [options.pods.onChange(({ before, now }) => this.#onPod(before, now))];
      },
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** A ReplicaSet or Job that another kind has made. */
  claim({ itself, annotations }: AskingObject, madeBy: OwnerReference): void {
    this.#claim({ ...madeBy, namespace: itself.namespace }, annotations, applicationKey(itself));
  }

  unclaim(by: Omit<Controller, 'uid'>): void {
    this.#unclaim(applicationKey(by), by.namespace);
  }

  /** It was read, and has a pool. No pod names it now, as after a scale to zero: its pool has to follow all the same. */
  keep({ apiVersion, kind, namespace, name, uid }: Controller): void {
    const application = { apiVersion, kind, namespace, name, uid };
    const key = keyOf(application);
    if (this.#claimed.has(key)) return;
    this.#claimed.set(key, { application, annotations: null, by: new Set() });
    this.#places.take(namespace, key);
    this.#enqueue(key);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#reconciler[Symbol.asyncDispose]();
  }

  #onPod(before: PodFacts | null, now: PodFacts | null): void {
    const pod = now ?? before;
    if (pod === null) return;
    const by = `Pod ${pod.namespace}/${pod.name}`;
    const { subnetWish, controller, isHostNetwork } = pod;
    const isAsking = now !== null && isAlive(now) && !isHostNetwork;
    // A ReplicaSet or Job names its own controller.
    if (!isAsking || subnetWish === null || controller === null || isBuiltIn(controller))
      this.#unclaim(by, pod.namespace);
    else this.#claim({ ...controller, namespace: pod.namespace }, subnetWish, by);
  }

  #claim({ apiVersion, kind, namespace, name, uid }: Controller, annotations: Labels, by: string): void {
    const application = { apiVersion, kind, namespace, name, uid };
    const key = keyOf(application);
    // A tenant may write one owner after the other into a pod: only the last one counts.
    if (this.#keyOf.get(by) !== key) this.#unclaim(by, namespace);
    const claimed = this.#claimed.get(key);
    const full = claimed === undefined ? this.#makeRoom(namespace) : null;
    if (full !== null) {
      this.#refuse({ application, annotations }, by, full);
      this.#tellRefused(application, full);
      return;
    }
    if (claimed?.by.has(by) && JSON.stringify(claimed.annotations) === JSON.stringify(annotations)) return;
    this.#keyOf.set(by, key);
    if (claimed === undefined) {
      this.#claimed.set(key, { application, annotations, by: new Set([by]) });
      this.#places.take(namespace, key);
    } else {
      claimed.by.add(by);
      claimed.annotations = annotations;
    }
    this.#enqueue(key);
  }

  /** Which limit leaves no room for one more of this namespace; null: there is room now. One that has a pool does not make room. */
  #makeRoom(namespace: string): keyof typeof NO_ROOM | null {
    const full = this.#places.fullFor(namespace);
    if (full !== 'inAll') return full;
    const mayGo = (key: string) => {
      const claimed = this.#claimed.get(key);
      return claimed !== undefined && !this.#options.hasPools(claimed.application);
    };
    const giver = this.#places.giverFor(namespace, mayGo);
    const claimed = giver === null ? undefined : this.#claimed.get(giver);
    if (giver === null || claimed === undefined) return full;
    this.#forget(giver, claimed);
    const { application, annotations } = claimed;
    for (const by of claimed.by) {
      this.#keyOf.delete(by);
      if (annotations !== null) this.#refuse({ application, annotations }, by, full);
    }
    this.#tellRefused(application, full);
    return null;
  }

  #refuse(refused: Refused, by: string, full: keyof typeof NO_ROOM): void {
    if (this.#refused.add(by, refused)) this.#putUnserved(refused, NO_ROOM[full]);
  }

  #tellRefused(regarding: Controller, full: keyof typeof NO_ROOM): void {
    this.#options.events.emit({ regarding, type: 'Warning', reason: 'ApplicationNotRead', note: NO_ROOM[full] });
  }

  #forgetRefused(by: string, namespace: string): void {
    const refused = this.#refused.remove(by, namespace);
    if (refused !== null) this.#removeFrom(this.#options.unserved, refused.application);
  }

  /** An application has gone: those that were refused take its place, as far as there is room, those of the namespace with the fewest first. */
  #admitRefused(): void {
    for (;;) {
      const [namespace, ...others] = this.#refused.namespaces().filter((it) => this.#places.fullFor(it) === null);
      if (namespace === undefined) return;
      const isFewer = (one: string, other: string) => this.#places.countIn(one) < this.#places.countIn(other);
      const poorest = others.reduce((least, it) => (isFewer(it, least) ? it : least), namespace);
      for (const [by, { application, annotations }] of this.#refused.first(poorest)) {
        this.#forgetRefused(by, poorest);
        this.#claim(application, annotations, by);
      }
    }
  }

  #unclaim(by: string, namespace: string): void {
    this.#forgetRefused(by, namespace);
    const key = this.#keyOf.get(by);
    const claimed = key === undefined ? undefined : this.#claimed.get(key);
    if (key === undefined || claimed === undefined) return;
    this.#keyOf.delete(by);
    claimed.by.delete(by);
    if (claimed.by.size > 0) return;
    if (this.#options.hasPools(claimed.application)) this.#enqueue(key);
    else this.#drop(key, claimed);
  }

  #drop(key: string, claimed: Claimed): void {
    this.#forget(key, claimed);
    this.#admitRefused();
  }

  #forget(key: string, { application }: Claimed): void {
    this.#claimed.delete(key);
    this.#places.free(application.namespace, key);
    const { applications, unserved } = this.#options;
    this.#removeFrom(applications, application);
    this.#removeFrom(unserved, application);
  }

  /** Not the one of the same name with another uid, which may be the true one. */
  #removeFrom(table: AskingApplications, application: Controller): void {
    if (table.find(application)?.application.uid === application.uid) table.remove(application);
  }

  #putUnserved({ application, annotations }: Pick<Claimed, 'application' | 'annotations'>, fault: string): void {
    const subnets = annotations === null ? new Set<string>() : namedSubnets(annotations);
    this.#options.unserved.put({ application, wanted: [], fault, subnets });
  }

  get #readAgainMs(): number {
    return Math.max(this.#options.readAgainMs, this.#claimed.size * READ_ONE_MS);
  }

  async #reconcile(key: string): Promise<number | undefined> {
    const claimed = this.#claimed.get(key);
    if (claimed === undefined) return undefined;
    const { applications, reader, rules, events, log, hasPools } = this.#options;
    const { application } = claimed;
    const isNamed = () => claimed.by.size > 0;
    if (!isNamed() && !hasPools(application)) return void this.#drop(key, claimed);
    const reading = await reader.read(application);
    if (this.#claimed.get(key) !== claimed) return undefined;
    if (reading.is === 'gone') {
      if (!isNamed()) return void this.#drop(key, claimed);
      this.#removeFrom(applications, application);
      this.#putUnserved(claimed, NOT_THERE);
      log.warn({ application: applicationKey(application) }, 'pods name an application that does not exist');
      return this.#readAgainMs;
    }
    // What was known of it stays: that its kind is not served now proves nothing.
    if (reading.is === 'unknown') return this.#tellUnread(claimed, reading);
    // A pod may have the annotations from elsewhere than the template.
    const said = isNamed() || !hasTemplate(reading.object) ? claimed.annotations : null;
    const annotations = templateAnnotations(reading.object) ?? said;
    if (annotations === null) return this.#onSilent(key, claimed, reading.object);
    const scale = await reader.replicasOf(application, reading.kind);
    if (this.#claimed.get(key) !== claimed) return undefined;
    const replicas = typeof scale === 'number' ? scale : null;
    const asking = readApplication(application, { annotations, replicas }, rules);
    // With a fixed number it does not matter how many pods there will be.
    if (typeof scale === 'object' && scale !== null && asking.fault !== null) return this.#tellUnread(claimed, scale);
    if (asking.fault !== null) events.emit(faultEvent(application, asking.fault));
    this.#removeFrom(this.#options.unserved, application);
    applications.put(asking);
    return this.#readAgainMs;
  }

  /** Without a template nothing tells what it asks for, until it has a pod again; until then its pool stays as it is. */
  #onSilent(key: string, claimed: Claimed, object: KubeObject): number | undefined {
    if (!hasTemplate(object)) return this.#readAgainMs;
    this.#drop(key, claimed);
    return undefined;
  }

  #tellUnread(claimed: Claimed, { because, missingRight }: Unread): number {
    const cure =
      missingRight === undefined
        ? ''
        : `; the controller needs the right to ${missingRight}: create a ClusterRole that has it and the label ${ROLE_LABEL}: "true"`;
    const note = `no pool is made or changed: ${because}${cure}`;
    this.#putUnserved(claimed, note);
    const { application: regarding } = claimed;
    this.#options.events.emit({ regarding, type: 'Warning', reason: 'ApplicationNotRead', note });
    return this.#readAgainMs;
  }
}

export function faultEvent(regarding: Controller, fault: string) {
  const note = `no pool is made from a subnet: ${fault}`;
  return { regarding, type: 'Warning', reason: 'BadSubnetAnnotation', note } as const;
}

function keyOf(application: Controller): string {
  return `${applicationKey(application)} ${application.uid}`;
}
