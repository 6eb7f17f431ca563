import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';

export interface Aged {
  readonly key: string;
  readonly createdAt: string;
}

export function compareAge(a: Aged, b: Aged): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}

/** The keys of all objects, the oldest object first. */
export function keysByAge(objects: Iterable<KubeObject>): string[] {
  const aged = [...objects].map(({ metadata }) => ({
    key: keyOf(metadata),
    createdAt: metadata.creationTimestamp ?? '',
  }));
  return aged.sort(compareAge).map(({ key }) => key);
}

/** Objects from the oldest to the youngest. A place is found by halving: among 10,000 in 14 comparisons. */
export class AgeOrder<Item extends Aged = Aged> {
  readonly #compare: typeof compareAge;
  readonly #items: Item[] = [];

  constructor(compare: typeof compareAge) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.splice(this.countBefore(item), 0, item);
  }

  remove(item: Aged): void {
    const at = this.countBefore(item);
    if (this.#items[at]?.key === item.key) this.#items.splice(at, 1);
  }

  /** How many are older. */
  countBefore(item: Aged): number {
    let [from, to] = [0, this.#items.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const other = this.#items[middle];
      if (other !== undefined && this.#compare(other, item) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** From the older to the younger. */
  youngest(count: number): Item[] {
    return this.#items.slice(-count);
  }

  keys(count = this.size): string[] {
    return this.#items.slice(0, count).map(({ key }) => key);
  }
}
