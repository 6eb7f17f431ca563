import type { KubeObject, ObjectMeta } from '#pkg/kube/objects/kube-object.ts';
import { isOlder } from '#pkg/kube/objects/resource-version.ts';
import type { WatchItem } from './watch-item.ts';

interface ObjectIdentity {
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
  readonly identity: ObjectIdentity;
  readonly resourceVersion: string;
}

/** The objects that the handler has seen, as names and versions only. From these a new list is turned into events. */
export class KnownObjects {
  #known = new Map<string, Known>();

  /** Whether an object is listed in an older version than the one known: only a restored store has it again. */
  isNewerThan(items: readonly KubeObject[]): boolean {
    return items.some(({ metadata }) => {
      const known = this.#known.get(keyOf(metadata));
      return known?.identity.uid === metadata.uid && isOlder(metadata.resourceVersion, known.resourceVersion);
    });
  }

  *replace(items: readonly KubeObject[]): Generator<WatchEvent> {
    const listed = new Set(items.map(({ metadata }) => keyOf(metadata)));
    for (const [key, { identity }] of this.#known) {
      if (listed.has(key)) continue;
      this.#known.delete(key);
      yield { type: 'Deleted', identity };
    }
    for (const item of items) yield* this.#put(item);
    yield { type: 'Synced' };
  }

  *apply(item: Exclude<WatchItem, { type: 'BOOKMARK' }>): Generator<WatchEvent> {
    if (item.type !== 'DELETED') return yield* this.#put(item.object);
    const key = keyOf(item.object.metadata);
    const known = this.#known.get(key);
    if (known?.identity.uid !== item.object.metadata.uid) return;
    this.#known.delete(key);
    yield { type: 'Deleted', identity: known.identity };
  }

  *#put(object: KubeObject): Generator<WatchEvent> {
    const { metadata } = object;
    const key = keyOf(metadata);
    const known = this.#known.get(key);
    const isSame = known?.identity.uid === metadata.uid;
    if (isSame && known.resourceVersion === metadata.resourceVersion) return;
    this.#known.set(key, { identity: identityOf(metadata), resourceVersion: metadata.resourceVersion });
    if (known !== undefined && !isSame) yield { type: 'Deleted', identity: known.identity };
    yield { type: isSame ? 'Modified' : 'Added', object };
  }
}

function keyOf({ namespace, name }: ObjectMeta): string {
  return `${namespace ?? ''}/${name}`;
}

function identityOf({ namespace, name, uid }: ObjectMeta): ObjectIdentity {
  return { ...(namespace === undefined ? {} : { namespace }), name, uid };
}
