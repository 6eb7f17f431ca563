import type { KubeObject } from '#pkg/kube/kube-object.ts';
import type { ObjectView } from './object-view.ts';

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

const MIRROR = 'kubernetes.io/config.mirror';

export function podsOf(view: ObjectView): PodsView {
  return {
    synced: view.synced,
    find: (namespace, name) => {
      const pod = view.get({ namespace, name });
      return pod === null ? null : identityOf(pod);
    },
    onChange: (listener) => view.onChange(listener),
  };
}

function identityOf({ metadata: { uid, annotations = {} } }: KubeObject): PodIdentity {
  return { uid, runtimeUid: annotations[MIRROR] ?? uid };
}
