import type { OwnerReference } from '#pkg/crd/decode-owner.ts';
import type { Labels } from '#pkg/pool/request.ts';

/** What the agent keeps of a pod. Everything else is dropped, so that memory does not grow with manifests. */
export interface NodePod {
  readonly namespace: string;
  readonly name: string;
  /** The UID that the runtime passes; for a mirror pod it is the UID of the static pod. */
  readonly uid: string;
  readonly resourceVersion: string;
  readonly node: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** The controller owner reference. */
  readonly controller: OwnerReference | null;
  /** As `isAlive` of `pkg/crd/pod-life.ts` says. */
  readonly isAlive: boolean;
  /** When its grace is over; only where it is being deleted. */
  readonly deletesAtMs?: number;
  /** A static pod runs whether or not its API object, the mirror pod, exists. */
  readonly isStatic?: boolean;
  /** The pod has had an address: kubelet has made a sandbox for it before. */
  readonly hadSandbox: boolean;
  /** Completes "pod x is dead: …". */
  readonly endedBecause?: string;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
  /** Empty if the runtime does not send it. */
  readonly uid: string;
}

/** The pods of this node. */
export interface Pods {
  /** From the cache; one GET when the cache does not have it, or has another UID. Null: no such pod (any more). */
  find(pod: PodName): Promise<NodePod | null>;
  /** Never from the cache. */
  read(pod: PodName): Promise<NodePod | null>;
  /** From the cache only. Null: unknown, deleted or gone. */
  known(uid: string): NodePod | null;
  /** Called once for each pod that was deleted or is not alive any more, after `known` has changed. */
  onEnd(listener: (uid: string) => void): Disposable;
}
