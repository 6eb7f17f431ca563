import type { Logger } from 'pino';
import type { NodePod, PodName, Pods } from '#agent/sources/pods.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { NodePodTable } from './pod-table.ts';
import { type SeenPod, toSeenPod } from './seen-pod.ts';
import { logTrouble } from './watch-trouble.ts';

export interface PodCacheOptions {
  readonly node: string;
  readonly log: Logger;
  /** The store of the API server was restored from a backup. */
  readonly onRestored?: () => void;
  /** The API server answers again after a break. */
  readonly onReconnected?: () => void;
}

const READ_TIMEOUT_MS = 5_000;
const NOT_SERVED = 'the API server does not serve pods';

/** The pods of this node by watch, with one read where kubelet was faster than the watch. */
export class PodCache implements Pods, AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #node: string;
  readonly #log: Logger;
  readonly #listeners = new Set<(uid: string) => void>();
  readonly #table = new NodePodTable((uid) => this.#reportEnd(uid));
  readonly #reflector: Reflector;

  constructor(client: KubeClient, { node, log, onRestored = () => {}, onReconnected = () => {} }: PodCacheOptions) {
    this.#client = client;
    this.#node = node;
    this.#log = log;
    this.#reflector = new Reflector(client, {
      resource: PODS,
      query: { fieldSelector: `spec.nodeName=${node}` },
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'pods of this node'),
      onRestored: () => {
        this.#table.startAnew();
        onRestored();
      },
      onReconnected,
    });
    this.synced = this.#reflector.synced;
  }

  async find(pod: PodName): Promise<NodePod | null> {
    const cached = this.#table.named(pod.namespace, pod.name);
    if (cached !== null && isMeant(cached, pod)) return cached.facts;
    return this.read(pod);
  }

  async read(pod: PodName): Promise<NodePod | null> {
    const { namespace, name } = pod;
    const before = this.#table.named(namespace, name);
    const got = await this.#client.get(PODS, { namespace, name }, { timeoutMs: READ_TIMEOUT_MS });
    if (!got.ok && got.because === 'NotFound') {
      if (before !== null) this.#table.end(before.objectUid);
      return null;
    }
    if (!got.ok) throw toApiError(`read pod ${namespace}/${name}`, got, NOT_SERVED);
    const seen = decode(got.object);
    const isElsewhere = seen.facts.node !== '' && seen.facts.node !== this.#node;
    // There was a pod of this name here, and now there is one on another node: ours is gone.
    if (isElsewhere && before !== null) this.#table.end(before.objectUid);
    const facts = isElsewhere ? seen.facts : this.#table.see(seen, 'read');
    if (facts === null || (pod.uid !== '' && facts.uid !== pod.uid)) return null;
    if (isElsewhere) {
      const message = `pod ${namespace}/${name} is on node ${facts.node}, and this agent serves ${this.#node}`;
      throw new IpamError('unknown-pod', message);
    }
    return facts;
  }

  known(uid: string): NodePod | null {
    return this.#table.known(uid);
  }

  onEnd(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Synced') void this.#confirmLearned();
    else if (event.type === 'Deleted') this.#table.end(event.identity.uid);
    // An unreadable pod throws, and the reflector reports it. What was known of the pod stays.
    else this.#table.see(decode(event.object), 'watch');
  }

  /** After a new list: a pod that came and went while there was no watch has no event. */
  async #confirmLearned(): Promise<void> {
    for (const { facts } of this.#table.learned()) {
      await this.read(facts).catch((thrown: unknown) =>
        this.#log.warn(
          { pod: `${facts.namespace}/${facts.name}`, why: toIpamError(thrown).message },
          'pod not confirmed',
        ),
      );
    }
  }

  #reportEnd(uid: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(uid);
      } catch (thrown) {
        this.#log.error({ uid, why: toIpamError(thrown).message }, 'end of a pod not handled');
      }
    }
  }
}

/**
 * Without a UID only a living pod is certainly the one that is meant: a dead one may have been replaced. So may a mirror
 * pod, by one of the same UID.
 */
function isMeant({ facts, objectUid }: SeenPod, { uid }: PodName): boolean {
  const mayBeReplaced = uid === '' || facts.uid !== objectUid;
  return (uid === '' || facts.uid === uid) && (facts.isAlive || !mayBeReplaced);
}

function decode(object: KubeObject): SeenPod {
  try {
    return toSeenPod(object);
  } catch (thrown) {
    const { namespace, name } = object.metadata;
    throw new IpamError('internal', `pod ${namespace}/${name} cannot be read: ${toIpamError(thrown).message}`, {
      cause: thrown,
    });
  }
}
