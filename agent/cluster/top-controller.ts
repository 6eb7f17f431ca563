import type { PodFacts } from '#agent/sources/pods.ts';
import { decodeController, type OwnerReference } from '#pkg/crd/decode-owner.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { JOBS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { BoundedMap } from './bounded-map.ts';

const MOST_OWNERS = 2_000;
const READ_TIMEOUT_MS = 5_000;

/** Owners that may have one above them: Deployments and CronJobs. */
const FOLLOWED: ReadonlyMap<string, Resource> = new Map([
  ['apps/v1 ReplicaSet', REPLICA_SETS],
  ['batch/v1 Job', JOBS],
]);

/** Who stands above a pod in the end. An owner is read once, not once for each of its pods. */
export class TopController {
  readonly #client: KubeClient;
  readonly #byOwner = new BoundedMap<string, Promise<Controller>>(MOST_OWNERS);

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Null for a bare pod. Owners of kinds that Kubernetes does not bring along are taken as they are. */
  async find({ controller, namespace }: Pick<PodFacts, 'controller' | 'namespace'>): Promise<Controller | null> {
    if (controller === null) return null;
    const resource = FOLLOWED.get(`${controller.apiVersion} ${controller.kind}`);
    if (resource === undefined) return inNamespace(controller, namespace);
    // Not by the uid alone: whoever makes a pod may write any into it, and must not reach what others were told.
    const key = JSON.stringify([namespace, controller.kind, controller.name, controller.uid]);
    const known = this.#byOwner.get(key);
    if (known !== undefined) return known;
    const reading = this.#follow(resource, controller, namespace);
    this.#byOwner.set(key, reading);
    reading.catch(() => this.#byOwner.delete(key));
    return reading;
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
