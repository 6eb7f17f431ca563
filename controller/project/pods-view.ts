import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';

export interface PodIdentity {
  /** The uid that an owner reference names. */
  readonly uid: string;
  /** The uid that the runtime passed when the address was taken; it differs for a mirror pod. */
  readonly runtimeUid: string;
}

/** A cache of which pods exist, fed by a watch. */
export interface PodsView {
  readonly synced: Promise<void>;
  find(namespace: string, name: string): PodIdentity | null;
  onChange(listener: (at: { readonly namespace?: string; readonly name: string }) => void): Disposable;
}

export function podsOf(view: ClusterView): PodsView {
  return {
    synced: view.synced,
    find: (namespace, name) => {
      const pod = view.pods.get(namespace, name);
      return pod === null ? null : { uid: pod.objectUid, runtimeUid: pod.uid };
    },
    onChange: (listener) =>
      view.subscribe((change) => {
        if (change.of !== 'pod') return;
        const { before, now } = change;
        // An endpoint depends on no other field of a pod.
        if (before?.objectUid === now?.objectUid) return;
        const pod = now ?? before;
        if (pod !== null) listener(pod);
      }),
  };
}
