import type { Labels } from '#pkg/pool/request.ts';

/** What this project reads of a pod; everything else of it is dropped, so that memory does not grow with manifests. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  /** The UID the runtime calls it by: for a mirror pod that of the static pod behind it. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly node: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** The owner that controls it. */
  readonly controller: OwnerReference | null;
  /** Not being deleted, not finished, not evicted: its sandbox may be made, or made again. */
  readonly isAlive: boolean;
  /** Completes "pod x is dead: …". */
  readonly endedBecause?: string;
  readonly podIPs: readonly string[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
  /** Empty where the runtime does not tell. */
  readonly uid: string;
}

/** The pods of this node. */
export interface Pods {
  /** From the cache; one GET when the cache does not have it, or has another UID. Null: no such pod (any more). */
  find(pod: PodName): Promise<PodFacts | null>;
  /** Never from the cache. */
  read(pod: PodName): Promise<PodFacts | null>;
  /** As far as this node has seen it. Null: unknown, deleted or gone. */
  known(uid: string): PodFacts | null;
  /** Told once of each pod that was deleted or is not alive any more, after `known` says so. */
  onEnd(listener: (uid: string) => void): Disposable;
}
