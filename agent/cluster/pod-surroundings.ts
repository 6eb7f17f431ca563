import type { Logger } from 'pino';
import type { NodePod } from '#agent/sources/pods.ts';
import { decodeController, type OwnerReference } from '#pkg/crd/decode-owner.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { JOBS, NAMESPACES, NODES, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { BoundedMap } from './bounded-map.ts';
import { logTrouble } from './watch-trouble.ts';

export interface NamespaceFacts {
  readonly labels: Labels;
  /** Only the annotations that the rules use are kept. */
  readonly annotations: Labels;
}

const READ_TIMEOUT_MS = 5_000;

/** Labels and annotations of all namespaces by watch, with one read where a pod was faster than the watch. */
export class NamespaceCache implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #known = new Map<string, NamespaceFacts>();
  readonly #reflector: Reflector;

  constructor(client: KubeClient, log: Logger) {
    this.#client = client;
    this.#reflector = new Reflector(client, {
      resource: NAMESPACES,
      form: 'metadata',
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'namespaces'),
    });
    this.synced = this.#reflector.synced;
  }

  /** Null: there is no such namespace. */
  async find(name: string): Promise<NamespaceFacts | null> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const got = await this.#client.get(NAMESPACES, { name }, { form: 'metadata', timeoutMs: READ_TIMEOUT_MS });
    if (got.ok) return factsOf(got.object);
    if (got.because === 'NotFound') return null;
    throw toApiError(`read namespace ${name}`, got, 'the API server does not serve namespaces');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Deleted') this.#known.delete(event.identity.name);
    else if (event.type !== 'Synced') this.#known.set(event.object.metadata.name, factsOf(event.object));
  }
}

function factsOf({ metadata: { labels = {}, annotations = {} } }: KubeObject): NamespaceFacts {
  const kept = Object.entries(annotations).filter(([key]) => key.startsWith('ipam.spidernet.io/'));
  return { labels, annotations: Object.fromEntries(kept) };
}

/** The labels of this node. */
export class NodeLabels implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #node: string;
  readonly #reflector: Reflector;
  #labels: Labels | null = null;

  constructor(client: KubeClient, node: string, log: Logger) {
    this.#node = node;
    this.#reflector = new Reflector(client, {
      resource: NODES,
      query: { fieldSelector: `metadata.name=${node}` },
      form: 'metadata',
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'this node'),
    });
    this.synced = this.#reflector.synced;
  }

  /** Throws while there is no such node: without its labels it is unknown which pools are for it. */
  current(): Labels {
    if (this.#labels === null) {
      throw new IpamError(
        'api-server-unavailable',
        `the Node ${this.#node} is not known to the API server, or not yet read`,
      );
    }
    return this.#labels;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Deleted') this.#labels = null;
    else if (event.type !== 'Synced') this.#labels = event.object.metadata.labels ?? {};
  }
}

const MOST_OWNERS = 2_000;
/** Many pods of one owner ask at once for a fresh read. */
const FRESH_MS = 5_000;

interface FollowedOwner {
  readonly readAtMs: number;
  readonly top: Promise<Controller>;
}

/** Owners that may have one above them: Deployments and CronJobs. */
const FOLLOWED: ReadonlyMap<string, Resource> = new Map([
  ['apps/v1 ReplicaSet', REPLICA_SETS],
  ['batch/v1 Job', JOBS],
]);

/** The topmost controller of a pod. An owner is read once, not once for each of its pods. */
export class TopController {
  readonly #client: KubeClient;
  readonly #byOwner = new BoundedMap<string, FollowedOwner>(MOST_OWNERS);
  readonly #nowMs: () => number;

  constructor(client: KubeClient, nowMs: () => number = performance.now.bind(performance)) {
    this.#client = client;
    this.#nowMs = nowMs;
  }

  /**
   * Null for a bare pod. Owners of kinds that are not built into Kubernetes are taken as they are. A ReplicaSet may get
   * another Deployment (deleted with `--cascade=orphan` and made again): `isFresh` reads it once more, if that was not done just now.
   */
  async find(
    { controller, namespace }: Pick<NodePod, 'controller' | 'namespace'>,
    { isFresh } = { isFresh: false },
  ): Promise<Controller | null> {
    if (controller === null) return null;
    const resource = FOLLOWED.get(`${controller.apiVersion} ${controller.kind}`);
    if (resource === undefined) return inNamespace(controller, namespace);
    // Not by the uid alone: a tenant may write any uid into a pod, and must not get the cached owner of another pod.
    const key = JSON.stringify([namespace, controller.kind, controller.name, controller.uid]);
    const known = this.#byOwner.get(key);
    const readAtMs = this.#nowMs();
    if (known !== undefined && !(isFresh && readAtMs - known.readAtMs > FRESH_MS)) return known.top;
    const top = this.#follow(resource, controller, namespace);
    this.#byOwner.set(key, { readAtMs, top });
    top.catch(() => this.#byOwner.delete(key));
    return top;
  }

  async #follow(resource: Resource, owner: OwnerReference, namespace: string): Promise<Controller> {
    const { name } = owner;
    const got = await this.#client.get(resource, { namespace, name }, { form: 'metadata', timeoutMs: READ_TIMEOUT_MS });
    const isGone = got.ok ? got.object.metadata.uid !== owner.uid : got.because === 'NotFound';
    if (isGone) return inNamespace(owner, namespace);
    if (!got.ok) {
      const doing = `read ${resource.kind} ${namespace}/${name}, the owner of the pod`;
      throw toApiError(doing, got, `the API server does not serve ${resource.plural}`);
    }
    return inNamespace(decodeController(got.object.metadata.ownerReferences) ?? owner, namespace);
  }
}

function inNamespace({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Controller {
  return { apiVersion, kind, namespace, name, uid };
}
