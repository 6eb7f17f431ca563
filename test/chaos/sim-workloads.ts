import { setTimeout as sleep } from 'node:timers/promises';
import { APPLICATION_SUBNET, SUBNET_ANNOTATION } from './application-pools.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import { forgePod } from './forged-owners.ts';
import type { Random } from './fuzz-random.ts';
import type { Sandboxes } from './sandboxes.ts';

const TICK_MS = 400;
const MOST_WORKLOADS = 4;
const MOST_BARE = 8;
const MOST_FORGED = 4;
const PODS = '/api/v1/namespaces/prod/pods';
const APPS = '/apis/apps/v1/namespaces/prod';
/** Stateless and sticky pods have separate pools, so that both see full pools. */
const POOL_OF = { statefulsets: 'sticky', replicasets: 'stateless', bare: 'stateless' } as const;

type Owner = 'statefulsets' | 'replicasets';
const KINDS = { statefulsets: 'StatefulSet', replicasets: 'ReplicaSet', deployments: 'Deployment' } as const;

export interface WorkloadsSite {
  readonly api: ChaosApi;
  readonly random: Random;
  readonly sandboxes: Sandboxes;
  /** The nodes that a scheduler would use now. */
  readonly readyNodes: () => readonly string[];
}

/** Users who change their workloads, and the controllers of Kubernetes that create the pods. */
export class SimWorkloads implements AsyncDisposable {
  readonly #site: WorkloadsSite;
  readonly #loop: Promise<void>;
  #made = 0;
  #hasEnded = false;

  constructor(site: WorkloadsSite) {
    this.#site = site;
    this.#loop = this.#run();
  }

  /** One random action of a user. */
  async act(): Promise<string> {
    const { random } = this.#site;
    const acts = [
      () => this.#createSome(),
      () => this.#createSome(),
      () => this.#scaleSome(),
      () => this.#scaleSome(),
      () => this.#createBare(),
      () => this.#createForged(),
      () => this.#deletePod('gracefully'),
      () => this.#deletePod('gracefully'),
      () => this.#deletePod('by force'),
      () => this.#deletePod('by force'),
      () => (random.isOneIn(3) ? this.#deleteSome() : this.#scaleSome()),
    ];
    return await random.pick(acts)();
  }

  async owners(kind: Owner | 'deployments'): Promise<readonly ApiObject[]> {
    return await this.#site.api.list(`${APPS}/${kind}`);
  }

  async pods(): Promise<readonly ApiObject[]> {
    return await this.#site.api.list(PODS);
  }

  /** Whether exactly the wanted pods exist. */
  async isComplete(): Promise<boolean> {
    const pods = await this.pods();
    if (pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return false;
    for (const kind of ['statefulsets', 'replicasets'] as const) {
      for (const owner of await this.owners(kind)) {
        if (ownedBy(pods, owner).length !== replicasOf(owner)) return false;
      }
    }
    const sets = await this.owners('replicasets');
    const deployments = await this.owners('deployments');
    return (
      sets.length === deployments.length &&
      deployments.every((it) => ownedBy(sets, it).some((set) => replicasOf(set) === replicasOf(it)))
    );
  }

  async #createSome(): Promise<string> {
    const { api, random } = this.#site;
    const isOfSubnet = random.isOneIn(2);
    const kind = isOfSubnet ? 'deployments' : random.pick(['statefulsets', 'deployments'] as const);
    const alike = (await this.owners(kind)).filter((it) => isAsking(it) === isOfSubnet);
    if (alike.length >= MOST_WORKLOADS) return 'nothing';
    this.#made += 1;
    // Names are used again: the next set of a name has another uid.
    const name = kind === 'statefulsets' ? `set-${random.below(MOST_WORKLOADS)}` : `app-${this.#made}`;
    const replicas = 1 + random.below(5);
    const annotations = isOfSubnet ? askForAddresses(random) : {};
    const template = { metadata: { labels: { app: name }, annotations }, spec: podSpec('Always') };
    const spec = { replicas, selector: { matchLabels: { app: name } }, template };
    const body = { apiVersion: 'apps/v1', kind: KINDS[kind], metadata: { name } };
    const more = kind === 'statefulsets' ? { serviceName: name } : {};
    await api.create(`${APPS}/${kind}`, { ...body, spec: { ...spec, ...more } });
    return `create ${kind} ${name} with ${replicas}`;
  }

  async #scaleSome(): Promise<string> {
    const { api, random } = this.#site;
    const kind = random.pick(['statefulsets', 'deployments'] as const);
    const owners = await this.owners(kind);
    if (owners.length === 0) return 'nothing';
    const { name } = random.pick(owners).metadata;
    const replicas = random.below(7);
    await api.patch(`${APPS}/${kind}/${name}`, { spec: { replicas } });
    return `scale ${kind} ${name} to ${replicas}`;
  }

  async #deleteSome(): Promise<string> {
    const { api, random } = this.#site;
    const kind = random.pick(['statefulsets', 'deployments'] as const);
    const owners = await this.owners(kind);
    if (owners.length === 0) return 'nothing';
    const { name } = random.pick(owners).metadata;
    await api.remove(`${APPS}/${kind}/${name}`, BACKGROUND);
    return `delete ${kind} ${name}`;
  }

  async #createBare(): Promise<string> {
    const { random } = this.#site;
    const bare = (await this.pods()).filter(({ metadata }) => metadata.ownerReferences === undefined);
    if (bare.length >= MOST_BARE) {
      await this.#remove(random.pick(bare), 'gracefully');
      return 'delete a bare pod';
    }
    this.#made += 1;
    await this.#createPod(`bare-${this.#made}`, 'bare', null);
    return `create bare-${this.#made}`;
  }

  /** The garbage collector deletes it, unless the kind of its owner is not served. */
  async #createForged(): Promise<string> {
    const { random, sandboxes } = this.#site;
    const forged = (await this.pods()).filter(({ metadata }) => metadata.labels?.['forged'] === 'true');
    if (forged.length >= MOST_FORGED) {
      await this.#remove(random.pick(forged), 'gracefully');
      return 'delete a pod with a forged owner';
    }
    const { name, owner, isLie } = forgePod(await this.owners('statefulsets'), random);
    const labels = { pool: POOL_OF.statefulsets, forged: 'true' };
    const ownerReferences = [{ ...owner, controller: true }];
    const made = await this.#post({ name, labels, ownerReferences }, 'Always');
    if (made !== null && isLie) sandboxes.noteForged(made.metadata.uid);
    return `create ${name} with a forged owner`;
  }

  async #deletePod(how: 'gracefully' | 'by force'): Promise<string> {
    const pods = await this.pods();
    if (pods.length === 0) return 'nothing';
    const { random, readyNodes } = this.#site;
    const ready = readyNodes();
    // Users delete by force the pods that hang on a node that is cut off.
    const hanging = pods.filter(({ spec }) => !ready.includes(String(spec?.['nodeName'])));
    const pod = random.pick(how === 'by force' && hanging.length > 0 && !random.isOneIn(4) ? hanging : pods);
    await this.#remove(pod, how);
    return `delete ${pod.metadata.name} ${how}`;
  }

  async #remove({ metadata: { name, uid } }: ApiObject, how: 'gracefully' | 'by force'): Promise<void> {
    const { api, sandboxes, random } = this.#site;
    if (how === 'by force') sandboxes.noteForced(uid);
    const gracePeriodSeconds = how === 'by force' ? 0 : random.pick([1, 5, 30]);
    await api.remove(`${PODS}/${name}`, { gracePeriodSeconds, preconditions: { uid } });
  }

  async #run(): Promise<void> {
    while (!this.#hasEnded) {
      await this.#reconcile().catch(() => {});
      await sleep(TICK_MS);
    }
  }

  async #reconcile(): Promise<void> {
    const pods = await this.pods();
    const sets = await this.owners('statefulsets');
    await this.#keepDeployments(await this.owners('deployments'), await this.owners('replicasets'));
    const replicaSets = await this.owners('replicasets');
    for (const set of sets) await this.#keepSet(set, pods);
    for (const set of replicaSets) await this.#keepReplicas(set, pods);
    const uids = new Set([...sets, ...replicaSets].map(({ metadata }) => metadata.uid));
    const orphans = pods.filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ uid, kind }) => SERVED_OWNERS.includes(kind) && !uids.has(uid)),
    );
    for (const pod of orphans) await this.#shed(pod);
  }

  /** One ReplicaSet each, and none whose Deployment is gone. */
  async #keepDeployments(deployments: readonly ApiObject[], sets: readonly ApiObject[]): Promise<void> {
    const { api } = this.#site;
    for (const deployment of deployments) {
      const [own] = ownedBy(sets, deployment);
      const replicas = replicasOf(deployment);
      if (own === undefined) {
        const { selector, template } = deployment.spec ?? {};
        const ownerReferences = [referenceTo('Deployment', deployment)];
        const metadata = { name: `${deployment.metadata.name}-5d9f8b6c5d`, ownerReferences };
        const spec = { replicas, selector, template };
        await api.create(`${APPS}/replicasets`, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec });
      } else if (replicasOf(own) !== replicas) {
        await api.patch(`${APPS}/replicasets/${own.metadata.name}`, { spec: { replicas } });
      }
    }
    const kept = new Set(deployments.flatMap((it) => ownedBy(sets, it)));
    for (const set of sets)
      if (!kept.has(set)) await api.remove(`${APPS}/replicasets/${set.metadata.name}`, BACKGROUND);
  }

  /** Ordinals from 0; a name is used again only when its pod is gone. */
  async #keepSet(set: ApiObject, pods: readonly ApiObject[]): Promise<void> {
    const replicas = replicasOf(set);
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      const name = `${set.metadata.name}-${ordinal}`;
      if (!pods.some(({ metadata }) => metadata.name === name)) await this.#createPod(name, 'statefulsets', set);
    }
    for (const pod of ownedBy(pods, set)) {
      if (Number(pod.metadata.name.split('-').at(-1)) >= replicas) await this.#shed(pod);
    }
  }

  async #keepReplicas(set: ApiObject, pods: readonly ApiObject[]): Promise<void> {
    const own = ownedBy(pods, set).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const surplus = own.length - replicasOf(set);
    for (let missing = -surplus; missing > 0; missing -= 1) {
      this.#made += 1;
      await this.#createPod(`${set.metadata.name}-${this.#made.toString(36).padStart(5, '0')}`, 'replicasets', set);
    }
    for (const pod of own.slice(0, Math.max(0, surplus))) await this.#shed(pod);
  }

  async #shed({ metadata: { name, uid, deletionTimestamp } }: ApiObject): Promise<void> {
    if (deletionTimestamp !== undefined) return;
    await this.#site.api.remove(`${PODS}/${name}`, { gracePeriodSeconds: 5, preconditions: { uid } });
  }

  async #createPod(name: string, kind: Owner | 'bare', owner: ApiObject | null): Promise<void> {
    const ownerReferences = owner === null || kind === 'bare' ? [] : [referenceTo(KINDS[kind], owner)];
    const interfaces = kind === 'bare' || isWide(owner) ? '2' : '1';
    const { labels, annotations } = templateOf(owner);
    const metadata = { name, labels: { ...labels, pool: POOL_OF[kind], interfaces }, annotations, ownerReferences };
    await this.#post(metadata, kind === 'bare' ? 'Never' : 'Always');
  }

  /** Null where no node would be given the pod. */
  async #post(metadata: object, restartPolicy: 'Always' | 'Never'): Promise<ApiObject | null> {
    const { api, random, readyNodes } = this.#site;
    const nodes = readyNodes();
    if (nodes.length === 0) return null;
    return await api.create(PODS, { metadata, spec: { ...podSpec(restartPolicy), nodeName: random.pick(nodes) } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasEnded = true;
    await this.#loop;
  }
}

const SERVED_OWNERS: readonly string[] = Object.values(KINDS);
const BACKGROUND = { propagationPolicy: 'Background' };

function podSpec(restartPolicy: 'Always' | 'Never') {
  return { restartPolicy, containers: [{ name: 'main', image: 'main' }] };
}

function referenceTo(kind: string, { metadata: { name, uid } }: ApiObject) {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true };
}

function askForAddresses(random: Random): Record<string, string> {
  return {
    [SUBNET_ANNOTATION]: JSON.stringify({ ipv4: [APPLICATION_SUBNET] }),
    'ipam.spidernet.io/ippool-ip-number': random.pick(['+0', '+1', '+2']),
  };
}

function isAsking(owner: ApiObject): boolean {
  return templateOf(owner).annotations?.[SUBNET_ANNOTATION] !== undefined;
}

/** What a pod of this owner has from its template. */
function templateOf(owner: ApiObject | null): Pick<ApiObject['metadata'], 'labels' | 'annotations'> {
  const template = owner?.spec?.['template'] as { readonly metadata?: ApiObject['metadata'] } | undefined;
  return template?.metadata ?? {};
}

function ownedBy(pods: readonly ApiObject[], { metadata: { uid } }: ApiObject): ApiObject[] {
  return pods.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true);
}

/** The pods of one set have two interfaces. */
function isWide(owner: ApiObject | null): boolean {
  return owner?.metadata.name === 'set-0';
}

function replicasOf({ spec }: ApiObject): number {
  return Number(spec?.['replicas'] ?? 1);
}
