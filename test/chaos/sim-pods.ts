import type { ApiObject, ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';

const PODS = '/api/v1/namespaces/prod/pods';
/** Stateless and sticky pods have separate pools, so that both see full pools. */
export const POOL_OF = { statefulsets: 'sticky', replicasets: 'stateless', bare: 'stateless' } as const;
export const KINDS = { statefulsets: 'StatefulSet', replicasets: 'ReplicaSet', deployments: 'Deployment' } as const;

export interface PodsSite {
  readonly api: ChaosApi;
  readonly random: Random;
  /** The nodes that a scheduler would use now. */
  readonly readyNodes: () => readonly string[];
}

/** The pods of the namespace of the users. A scheduler binds each at once, to any node that is ready. */
export class SimPods {
  readonly #site: PodsSite;

  constructor(site: PodsSite) {
    this.#site = site;
  }

  async list(): Promise<readonly ApiObject[]> {
    return await this.#site.api.list(PODS);
  }

  async createBare(name: string): Promise<void> {
    const labels = { pool: POOL_OF.bare, interfaces: '2' };
    await this.post({ name, labels }, 'Never');
  }

  async createOf(owner: ApiObject, kind: 'statefulsets' | 'replicasets', name: string): Promise<void> {
    const { labels, annotations } = templateOf(owner);
    const ownerReferences = [referenceTo(KINDS[kind], owner)];
    const more = { pool: POOL_OF[kind], interfaces: isWide(owner) ? '2' : '1' };
    await this.post({ name, labels: { ...labels, ...more }, annotations, ownerReferences }, 'Always');
  }

  /** Null where no node would be given the pod. */
  async post(metadata: object, restartPolicy: 'Always' | 'Never'): Promise<ApiObject | null> {
    const { api, random, readyNodes } = this.#site;
    const nodes = readyNodes();
    if (nodes.length === 0) return null;
    return await api.create(PODS, { metadata, spec: { ...podSpec(restartPolicy), nodeName: random.pick(nodes) } });
  }

  async remove({ metadata: { name, uid } }: ApiObject, gracePeriodSeconds: number): Promise<void> {
    await this.#site.api.remove(`${PODS}/${name}`, { gracePeriodSeconds, preconditions: { uid } });
  }
}

export function podSpec(restartPolicy: 'Always' | 'Never') {
  return { restartPolicy, containers: [{ name: 'main', image: 'main' }] };
}

export function referenceTo(kind: string, { metadata: { name, uid } }: ApiObject) {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true };
}

export function ownedBy(objects: readonly ApiObject[], { metadata: { uid } }: ApiObject): ApiObject[] {
  return objects.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true);
}

export function replicasOf({ spec }: ApiObject): number {
  return Number(spec?.['replicas'] ?? 1);
}

/** What a pod of this owner has from its template. */
function templateOf(owner: ApiObject): Pick<ApiObject['metadata'], 'labels' | 'annotations'> {
  const template = owner.spec?.['template'] as { readonly metadata?: ApiObject['metadata'] } | undefined;
  return template?.metadata ?? {};
}

/** The pods of one set have two interfaces. */
function isWide({ metadata }: ApiObject): boolean {
  return metadata.name === 'set-0';
}
