import type { Logger } from 'pino';
import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { apiVersionOf, type ObjectName, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { type AskingObject, BUILT_IN_KINDS, readAskingObject } from './built-in-kinds.ts';

export interface ApplicationWatchOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  /** Objects whose pods ask for subnets, as they are now. */
  readonly onAsking: (object: AskingObject) => void;
  /** The object is gone, or asks no more. */
  readonly onSilent: (object: Omit<AskingObject['itself'], 'uid'>) => void;
}

/**
 * Watches the kinds of Kubernetes that make pods. Only what asks for subnets is kept: a cluster has ten times more ReplicaSets than
 * applications, and almost none of them asks.
 */
export class ApplicationWatch implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #options: ApplicationWatchOptions;
  readonly #reflectors: readonly Reflector[];
  /** The uid of every ReplicaSet and Job that asks, with who made it. */
  readonly #madeBy = new Map<string, OwnerReference | null>();
  readonly #uids = new Map<string, string>();

  constructor(options: ApplicationWatchOptions) {
    this.#options = options;
    this.#reflectors = BUILT_IN_KINDS.map((resource) => this.#reflect(resource));
    this.synced = Promise.all(this.#reflectors.map(({ synced }) => synced)).then(() => {});
    this.synced.catch(() => {}); // callers need not wait for it
  }

  /** The controller of the object with this uid: null if it has none, undefined if the object does not ask for subnets. */
  makerOf(uid: string): OwnerReference | null | undefined {
    return this.#madeBy.get(uid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector[Symbol.asyncDispose]()));
  }

  #reflect(resource: Resource): Reflector {
    const { log } = this.#options;
    return new Reflector(this.#options.client, {
      resource,
      onTrouble: (trouble) =>
        trouble.during === 'event'
          ? log.error({ kind: resource.plural, why: toIpamError(trouble.thrown).message }, 'watch event cannot be read')
          : log.warn(
              { kind: resource.plural, why: trouble.failure.message, retryInMs: trouble.retryInMs },
              'watch interrupted',
            ),
      onEvent: (event) => {
        if (event.type === 'Synced') return;
        const asking = event.type === 'Deleted' ? null : readAskingObject(resource, event.object);
        const at = event.type === 'Deleted' ? event.identity : event.object.metadata;
        if (asking === null) this.#forget(resource, at);
        else this.#keep(resource, asking);
      },
    });
  }

  #keep(resource: Resource, asking: AskingObject): void {
    const { uid } = asking.itself;
    this.#madeBy.set(uid, asking.madeBy);
    this.#uids.set(keyOf(resource, asking.itself), uid);
    this.#options.onAsking(asking);
  }

  #forget(resource: Resource, at: ObjectName): void {
    const key = keyOf(resource, at);
    const uid = this.#uids.get(key);
    if (uid === undefined) return;
    this.#uids.delete(key);
    this.#madeBy.delete(uid);
    const { namespace = '', name } = at;
    this.#options.onSilent({ apiVersion: apiVersionOf(resource), kind: resource.kind, namespace, name });
  }
}

function keyOf({ kind }: Resource, { namespace = '', name }: ObjectName): string {
  return `${kind} ${namespace}/${name}`;
}
