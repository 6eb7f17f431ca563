import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';

/** The cache of pods, as the auto pools need it. */
export interface WorkloadPods {
  readonly synced: Promise<void>;
  get(namespace: string, name: string): PodFacts | null;
  all(): Iterable<PodFacts>;
  onChange(listener: (change: { readonly before: PodFacts | null; readonly now: PodFacts | null }) => void): Disposable;
}

export function workloadPodsOf(view: ClusterView): WorkloadPods {
  return {
    synced: view.synced,
    get: (namespace, name) => view.pods.get(namespace, name),
    all: () => view.pods.all(),
    onChange: (listener) =>
      view.subscribe((change) => {
        if (change.of === 'pod') listener(change);
      }),
  };
}
