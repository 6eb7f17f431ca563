import { isOlder, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { NamespacedMap } from '#pkg/kube/objects/namespaced-map.ts';
import type { WatchItem } from './watch-item.ts';

export interface ObjectIdentity {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** `Deleted`: the object is gone or no longer selected. `Synced`: the handler has seen every object of the list. */
export type WatchEvent =
  | { readonly type: 'Added' | 'Modified'; readonly object: KubeObject }
  | { readonly type: 'Deleted'; readonly identity: ObjectIdentity }
  | { readonly type: 'Synced' };

interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The number of the list that it was last seen in or after. */
  list: number;
}

/**
 * The objects that the handler has seen, as names and versions only. From these a new list, page by page, is turned into events.
 * It is kept for every object of a cluster, so each entry is small.
 */
export class KnownObjects {
  readonly #known = new NamespacedMap<Known>();
  #list = 0;

  /** A new list begins. If the last one did not end, what it contained is true all the same. */
  begin(): void {
    this.#list += 1;
  }

  /** Whether an object is listed in an older version than the one known: only a restored store has it again. */
  isNewerThan(items: readonly KubeObject[]): boolean {
    return items.some(({ metadata }) => {
      const known = this.#known.get(metadata.namespace ?? '', metadata.name);
      return known?.uid === metadata.uid && isOlder(metadata.resourceVersion, known.resourceVersion);
    });
  }

  *put(object: KubeObject): Generator<WatchEvent> {
    const { namespace = '', name, uid, resourceVersion } = object.metadata;
    const known = this.#known.get(namespace, name);
    const isSame = known?.uid === uid;
    if (isSame && known.resourceVersion === resourceVersion) {
      known.list = this.#list;
      return;
    }
    this.#known.set(namespace, name, { uid, resourceVersion, list: this.#list });
    if (known !== undefined && !isSame) yield deletionOf(namespace, name, known);
    yield { type: isSame ? 'Modified' : 'Added', object };
  }

  /** The list has ended: what was not in it is gone. */
  *end(): Generator<WatchEvent> {
    for (const [namespace, name, known] of this.#known.entries()) {
      if (known.list === this.#list) continue;
      this.#known.delete(namespace, name);
      yield deletionOf(namespace, name, known);
    }
    yield { type: 'Synced' };
  }

  *apply(item: Exclude<WatchItem, { type: 'BOOKMARK' }>): Generator<WatchEvent> {
    if (item.type !== 'DELETED') return yield* this.put(item.object);
    const { namespace = '', name, uid } = item.object.metadata;
    const known = this.#known.get(namespace, name);
    if (known?.uid !== uid) return;
    this.#known.delete(namespace, name);
    yield deletionOf(namespace, name, known);
  }
}

function deletionOf(namespace: string, name: string, { uid }: Known): WatchEvent {
  return { type: 'Deleted', identity: { ...(namespace === '' ? {} : { namespace }), name, uid } };
}
