import { setTimeout as sleep } from 'node:timers/promises';
import { askOf, isSameAsk } from './application-asks.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import { KINDS, ownedBy, type PodsSite, referenceTo, replicasOf, SimPods } from './sim-pods.ts';

const TICK_MS = 400;
export const APPS = '/apis/apps/v1/namespaces/prod';
export const BACKGROUND = { propagationPolicy: 'Background' };
const SERVED_OWNERS: readonly string[] = Object.values(KINDS);

/** The controllers of Kubernetes that create the pods of workloads, and the garbage collector of their pods. */
export class SimControllers implements AsyncDisposable {
  readonly #api: ChaosApi;
  readonly #pods: SimPods;
  readonly #loop: Promise<void>;
  #made = 0;
  #hasEnded = false;

  constructor(site: PodsSite) {
    this.#api = site.api;
    this.#pods = new SimPods(site);
    this.#loop = this.#run();
  }

  /** Whether exactly the wanted pods exist, each as its template says. */
  async isComplete(): Promise<boolean> {
    const pods = await this.#pods.list();
    if (pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return false;
    for (const kind of ['statefulsets', 'replicasets'] as const) {
      for (const owner of await this.#list(kind)) {
        const own = ownedBy(pods, owner);
        if (own.length !== replicasOf(owner) || own.some((pod) => isOutdated(pod, owner))) return false;
      }
    }
    const sets = await this.#list('replicasets');
    const deployments = await this.#list('deployments');
    const isMade = (it: ApiObject) =>
      ownedBy(sets, it).some((set) => replicasOf(set) === replicasOf(it) && !isOutdated(set, it));
    return sets.length === deployments.length && deployments.every(isMade);
  }

  async #list(kind: keyof typeof KINDS): Promise<readonly ApiObject[]> {
    return await this.#api.list(`${APPS}/${kind}`);
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      await this.#reconcile().catch(() => {});
      await sleep(TICK_MS);
    }
  }

  async #reconcile(): Promise<void> {
    const pods = await this.#pods.list();
    const sets = await this.#list('statefulsets');
    await this.#keepDeployments(await this.#list('deployments'), await this.#list('replicasets'));
    const replicaSets = await this.#list('replicasets');
    for (const set of sets) await this.#keepSet(set, pods);
    for (const set of replicaSets) await this.#keepReplicas(set, pods);
    const uids = new Set([...sets, ...replicaSets].map(({ metadata }) => metadata.uid));
    const orphans = pods.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid, kind }) => SERVED_OWNERS.includes(kind) && !uids.has(uid)),
    );
    for (const pod of orphans) await this.#shed(pod);
  }

  /** One ReplicaSet each, whose template follows, and none whose Deployment is gone. */
  async #keepDeployments(deployments: readonly ApiObject[], sets: readonly ApiObject[]): Promise<void> {
    for (const deployment of deployments) {
      const [own] = ownedBy(sets, deployment);
      const replicas = replicasOf(deployment);
      const { selector, template } = deployment.spec ?? {};
      if (own === undefined) {
        const ownerReferences = [referenceTo('Deployment', deployment)];
        const metadata = { name: `${deployment.metadata.name}-5d9f8b6c5d`, ownerReferences };
        const spec = { replicas, selector, template };
        await this.#api.create(`${APPS}/replicasets`, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec });
      } else if (replicasOf(own) !== replicas || isOutdated(own, deployment)) {
        await this.#api.patch(`${APPS}/replicasets/${own.metadata.name}`, { spec: { replicas, template } });
      }
    }
    const kept = new Set(deployments.flatMap((it) => ownedBy(sets, it)));
    for (const set of sets)
      if (!kept.has(set)) await this.#api.remove(`${APPS}/replicasets/${set.metadata.name}`, BACKGROUND);
  }

  /** Ordinals from 0; a name is used again only when its pod is gone. */
  async #keepSet(set: ApiObject, pods: readonly ApiObject[]): Promise<void> {
    const replicas = replicasOf(set);
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      const name = `${set.metadata.name}-${ordinal}`;
      if (!pods.some(({ metadata }) => metadata.name === name)) await this.#pods.createOf(set, 'statefulsets', name);
    }
    const own = ownedBy(pods, set);
    const [surplus, wanted] = [
      own.filter((pod) => ordinalOf(pod) >= replicas),
      own.filter((pod) => ordinalOf(pod) < replicas),
    ];
    for (const pod of surplus) await this.#shed(pod);
    await this.#roll(set, wanted);
  }

  async #keepReplicas(set: ApiObject, pods: readonly ApiObject[]): Promise<void> {
    const own = ownedBy(pods, set).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const surplus = own.length - replicasOf(set);
    for (let missing = -surplus; missing > 0; missing -= 1) {
      this.#made += 1;
      const name = `${set.metadata.name}-${this.#made.toString(36).padStart(5, '0')}`;
      await this.#pods.createOf(set, 'replicasets', name);
    }
    for (const pod of own.slice(0, Math.max(0, surplus))) await this.#shed(pod);
    if (surplus === 0) await this.#roll(set, own);
  }

  /** One pod after the other, as long as those with the new template run: a template with a typo costs one pod. */
  async #roll(owner: ApiObject, own: readonly ApiObject[]): Promise<void> {
    const [outdated] = own.filter((pod) => isOutdated(pod, owner));
    const isWaiting = own.some((pod) => !isOutdated(pod, owner) && pod.status?.['podIP'] === undefined);
    if (outdated !== undefined && !isWaiting) await this.#shed(outdated);
  }

  async #shed(pod: ApiObject): Promise<void> {
    if (pod.metadata.deletionTimestamp === undefined) await this.#pods.remove(pod, 5);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}

/** Nothing else of a template changes here. */
function isOutdated(made: ApiObject, maker: ApiObject): boolean {
  return !isSameAsk(askOf(made), askOf(maker));
}

function ordinalOf({ metadata }: ApiObject): number {
  return Number(metadata.name.split('-').at(-1));
}
