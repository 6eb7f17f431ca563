import type { KubeObject, ObjectMeta } from '#pkg/kube/objects/kube-object.ts';
import { isOlder } from '#pkg/kube/objects/resource-version.ts';
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
  readonly #known = new Map<string, Known>();
  #list = 0;

  /** A new list begins. If the last one did not end, what it told is true all the same. */
  begin(): void {
    this.#list += 1;
  }

  /** Whether an object is listed in an older version than the one known: only a restored store has it again. */
  isNewerThan(items: readonly KubeObject[]): boolean {
    return items.some(({ metadata }) => {
      const known = this.#known.get(keyOf(metadata));
      return known?.uid === metadata.uid && isOlder(metadata.resourceVersion, known.resourceVersion);
    });
  }

  *put(object: KubeObject): Generator<WatchEvent> {
    const { uid, resourceVersion } = object.metadata;
    const key = keyOf(object.metadata);
    const known = this.#known.get(key);
    const isSame = known?.uid === uid;
    if (isSame && known.resourceVersion === resourceVersion) {
      known.list = this.#list;
      return;
    }
    this.#known.set(key, { uid, resourceVersion, list: this.#list });
    if (known !== undefined && !isSame) yield { type: 'Deleted', identity: identityOf(key, known) };
    yield { type: isSame ? 'Modified' : 'Added', object };
  }

  /** The list has ended: what was not in it is gone. */
  *end(): Generator<WatchEvent> {
    for (const [key, known] of this.#known) {
      if (known.list === this.#list) continue;
      this.#known.delete(key);
      yield { type: 'Deleted', identity: identityOf(key, known) };
    }
    yield { type: 'Synced' };
  }

  *apply(item: Exclude<WatchItem, { type: 'BOOKMARK' }>): Generator<WatchEvent> {
    if (item.type !== 'DELETED') return yield* this.put(item.object);
    const key = keyOf(item.object.metadata);
    const known = this.#known.get(key);
    if (known?.uid !== item.object.metadata.uid) return;
    this.#known.delete(key);
    yield { type: 'Deleted', identity: identityOf(key, known) };
  }
}

function keyOf({ namespace, name }: ObjectMeta): string {
  return `${namespace ?? ''}/${name}`;
}

function identityOf(key: string, { uid }: Known): ObjectIdentity {
  const slash = key.indexOf('/');
  const namespace = key.slice(0, slash);
  return { ...(namespace === '' ? {} : { namespace }), name: key.slice(slash + 1), uid };
}
