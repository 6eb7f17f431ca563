import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { KubeObject, ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';

interface Shown {
  readonly pool: string;
  readonly value: bigint;
}

/**
 * The numbers that objects show as theirs. They are in use, also in the moment before they have their record, and in the moment after
 * it was given back.
 */
export class ShownAddresses {
  readonly #view: ObjectView;
  readonly #read: (object: KubeObject) => Shown | null;
  readonly #known = new Map<string, Shown>();
  /** How many objects show the number. */
  readonly #counts = new Map<string, number>();
  /** How many numbers of each pool are shown. */
  readonly #ofPool = new Map<string, number>();

  constructor(view: ObjectView, read: (object: KubeObject) => Shown | null) {
    this.#view = view;
    this.#read = read;
  }

  has(pool: string, value: bigint): boolean {
    return this.#counts.has(`${pool}/${value}`);
  }

  hasAny(pool: string): boolean {
    return this.#ofPool.has(pool);
  }

  /** Call it for every object at first, and after each change. The number that is not shown any more, or null. */
  update(at: ObjectName): Shown | null {
    const key = keyOf(at);
    const before = this.#known.get(key) ?? null;
    const object = this.#view.get(at);
    const now = object === null ? null : this.#read(object);
    if (before !== null) this.#count(before, -1);
    if (now !== null) this.#count(now, 1);
    if (now === null) this.#known.delete(key);
    else this.#known.set(key, now);
    return before !== null && !this.has(before.pool, before.value) ? before : null;
  }

  #count({ pool, value }: Shown, by: 1 | -1): void {
    add(this.#counts, `${pool}/${value}`, by);
    add(this.#ofPool, pool, by);
  }
}

function add(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
