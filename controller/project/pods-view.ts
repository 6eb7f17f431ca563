import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';

export interface PodIdentity {
  /** What an owner reference names. */
  readonly uid: string;
  /** What the runtime called it by when the address was taken; another one for a mirror pod. */
  readonly runtimeUid: string;
}

/** Which pods there are, as far as a watch has told. */
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
        // Nothing else of a pod is shown in an endpoint.
        if (before?.objectUid === now?.objectUid) return;
        const pod = now ?? before;
        if (pod !== null) listener(pod);
      }),
  };
}
