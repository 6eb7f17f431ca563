import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Trim } from '#pkg/kube/client/request-options.ts';
import {
  type KubeObject,
  type ListQuery,
  type ObjectName,
  type Resource,
  withoutManagedFields,
} from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';
import { Reflector, type Trouble } from '#pkg/kube/watch/reflector.ts';
import { Listeners } from './listeners.ts';

/** A cache of all objects of one kind, fed by a watch. */
export interface ObjectView extends AsyncDisposable {
  /** Resolves once every existing object is in the cache. */
  readonly synced: Promise<void>;
  get(at: ObjectName): KubeObject | null;
  all(): Iterable<KubeObject>;
  /** The listener is called after each later change of the cache, not for objects that are in it already. */
  onChange(listener: (at: ObjectIdentity) => void): Disposable;
}

export interface ObjectViewOptions {
  readonly resource: Resource;
  readonly query?: ListQuery;
  /** What is kept of an object; by default all but its managedFields. */
  readonly trim?: Trim;
  readonly onTrouble: (trouble: Trouble) => void;
  readonly onRestored?: () => void;
}

export function watchObjects(client: KubeClient, options: ObjectViewOptions): ObjectView {
  const { trim = withoutManagedFields, ...watched } = options;
  const objects = new Map<string, KubeObject>();
  const listeners = new Listeners<ObjectIdentity>();
  const reflector = new Reflector(client, {
    ...watched,
    onEvent: (event) => {
      if (event.type === 'Synced') return;
      const at = event.type === 'Deleted' ? event.identity : event.object.metadata;
      if (event.type === 'Deleted') objects.delete(keyOf(at));
      else objects.set(keyOf(at), trim(event.object));
      listeners.tell(at);
    },
  });
  return {
    synced: reflector.synced,
    get: (at) => objects.get(keyOf(at)) ?? null,
    all: () => objects.values(),
    onChange: (listener) => listeners.add(listener),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}
