import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Seen } from '#pkg/kube/client/request-options.ts';
import {
  isMap,
  type KubeObject,
  type NewObject,
  type ObjectMeta,
  type ObjectName,
  type Resource,
} from '#pkg/kube/objects/kube-object.ts';
import { failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';

type Patch = Readonly<Record<string, unknown>>;
type Draft = { readonly metadata: NewObject['metadata'] & Partial<ObjectMeta>; readonly [field: string]: unknown };

/** The objects of one kind, and a cache of them that its watch feeds. */
class Shelf {
  readonly stored = new Map<string, KubeObject>();
  readonly cached = new Map<string, KubeObject>();
  readonly listeners = new Listeners<ObjectIdentity>();
  readonly late: (() => void)[] = [];
  isHeld = false;

  tell(after: KubeObject | null, { metadata }: KubeObject): void {
    const key = keyOf(metadata);
    const deliver = () => {
      if (after === null) this.cached.delete(key);
      else this.cached.set(key, after);
      this.listeners.tell(metadata);
    };
    if (this.isHeld) this.late.push(deliver);
    else deliver();
  }
}

/** For tests: the objects of an API server in memory, with preconditions and finalizers as it has them. Watches can be held. */
export class MemoryObjects {
  readonly #shelves = new Map<string, Shelf>();
  #version = 100;

  get(kind: Resource, at: ObjectName): KubeObject | null {
    return this.#shelf(kind).stored.get(keyOf(at)) ?? null;
  }

  create(kind: Resource, draft: Draft): KubeObject {
    this.#version += 1;
    const own = { uid: `uid-${this.#version}`, resourceVersion: String(this.#version), generation: 1 };
    return this.#put(kind, { ...draft, metadata: { ...draft.metadata, ...own } });
  }

  patch(kind: Resource, at: ObjectName, patch: Patch): KubeObject {
    const found = this.get(kind, at);
    if (found === null) throw new Error(`no ${kind.kind} ${keyOf(at)}`);
    this.#version += 1;
    const metadata = { ...(isMap(patch['metadata']) ? patch['metadata'] : {}), resourceVersion: String(this.#version) };
    return this.#put(kind, merge(found, { ...patch, metadata }) as unknown as KubeObject);
  }

  delete(kind: Resource, at: ObjectName): KubeObject | null {
    const found = this.get(kind, at);
    if (found === null) return null;
    if ((found.metadata.finalizers ?? []).length > 0) {
      return this.patch(kind, at, { metadata: { deletionTimestamp: '2026-11-18T16:00:00Z' } });
    }
    return this.#drop(kind, found);
  }

  /** From now on nothing is heard of the kind. */
  hold(kind: Resource): void {
    this.#shelf(kind).isHeld = true;
  }

  letGo(kind: Resource): void {
    const shelf = this.#shelf(kind);
    shelf.isHeld = false;
    for (const deliver of shelf.late.splice(0)) deliver();
  }

  view(kind: Resource): ObjectView {
    const { cached, listeners } = this.#shelf(kind);
    return {
      synced: Promise.resolve(),
      get: (at) => cached.get(keyOf(at)) ?? null,
      all: () => cached.values(),
      onChange: (listener) => listeners.add(listener),
      [Symbol.asyncDispose]: async () => {},
    };
  }

  /** `before` is asked ahead of each request; a failure that it returns is the answer. */
  client(timing: Timing, before: (call: string) => Promise<unknown>): KubeClient {
    const asked = async (verb: string, { plural }: Resource, { name }: ObjectName, answer: () => Outcome<unknown>) =>
      (await before(`${verb} ${plural} ${name}`)) ?? answer();
    const client = {
      timing,
      get: (kind: Resource, at: ObjectName) => asked('get', kind, at, () => found(this.get(kind, at))),
      create: (kind: Resource, object: NewObject) =>
        asked('create', kind, object.metadata, () =>
          this.get(kind, object.metadata) === null
            ? { ok: true, object: this.create(kind, object) }
            : failure('AlreadyExists', 'it exists'),
        ),
      patch: (kind: Resource, at: ObjectName, body: Patch) =>
        asked('patch', kind, at, () => {
          const seen = this.get(kind, at);
          if (seen === null) return failure('NotFound', 'gone');
          if (!isSeen(seen, body['metadata'])) return failure('Conflict', 'it has changed');
          return { ok: true, object: this.patch(kind, at, body) };
        }),
      delete: (kind: Resource, seen: Seen) =>
        asked('delete', kind, seen, () => {
          const now = this.get(kind, seen);
          if (now === null) return failure('NotFound', 'gone');
          if (!isSeen(now, seen)) return failure('Conflict', 'it has changed');
          const left = this.delete(kind, seen);
          return { ok: true, object: left };
        }),
    };
    return client as unknown as KubeClient;
  }

  #put(kind: Resource, object: KubeObject): KubeObject {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    const shelf = this.#shelf(kind);
    shelf.stored.set(keyOf(object.metadata), object);
    if (deletionTimestamp !== undefined && finalizers.length === 0) this.#drop(kind, object);
    else shelf.tell(object, object);
    return object;
  }

  #drop(kind: Resource, object: KubeObject): null {
    const shelf = this.#shelf(kind);
    shelf.stored.delete(keyOf(object.metadata));
    shelf.tell(null, object);
    return null;
  }

  #shelf({ plural }: Resource): Shelf {
    const shelf = this.#shelves.get(plural) ?? new Shelf();
    this.#shelves.set(plural, shelf);
    return shelf;
  }
}

function found(object: KubeObject | null): Outcome<KubeObject> {
  return object === null ? failure('NotFound', 'gone') : { ok: true, object };
}

function isSeen({ metadata }: KubeObject, wanted: unknown): boolean {
  const fields = isMap(wanted) ? wanted : {};
  return (['uid', 'resourceVersion'] as const).every((it) => fields[it] === undefined || fields[it] === metadata[it]);
}

function merge(into: Readonly<Record<string, unknown>>, patch: Patch): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = { ...into };
  for (const [field, value] of Object.entries(patch)) {
    const before = merged[field];
    if (value === null) delete merged[field];
    else merged[field] = isMap(value) ? merge(isMap(before) ? before : {}, value) : value;
  }
  return merged;
}

function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace ?? ''}/${name}`;
}
