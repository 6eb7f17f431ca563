import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { ListQuery } from '#pkg/kube/objects/list-query.ts';
import type { ObjectName, Resource } from '#pkg/kube/objects/resource.ts';
import { Reflector, type Trouble } from '#pkg/kube/watch/reflector.ts';
import { Listeners } from './listeners.ts';

/** The objects of one kind as far as a watch has told. */
export interface ObjectView extends AsyncDisposable {
  /** Resolves once all that existed has been told. */
  readonly synced: Promise<void>;
  get(at: ObjectName): KubeObject | null;
  all(): Iterable<KubeObject>;
  /** Told after the view changed; not of what was there before. */
  onChange(listener: (at: ObjectName) => void): Disposable;
}

export interface ObjectViewOptions {
  readonly resource: Resource;
  readonly query?: ListQuery;
  readonly onTrouble: (trouble: Trouble) => void;
}

export function watchObjects(client: KubeClient, { resource, query = {}, onTrouble }: ObjectViewOptions): ObjectView {
  const objects = new Map<string, KubeObject>();
  const listeners = new Listeners<ObjectName>();
  const reflector = new Reflector(client, {
    resource,
    query,
    onTrouble,
    onEvent: (event) => {
      if (event.type === 'Synced') return;
      const at = event.type === 'Deleted' ? event.identity : event.object.metadata;
      if (event.type === 'Deleted') objects.delete(keyOf(at));
      else objects.set(keyOf(at), withoutManagedFields(event.object));
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

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace ?? ''}/${name}`;
}

/** About half of a small object's bytes, and nobody here reads them. A write that leaves them out keeps them as they are. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as KubeObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}
