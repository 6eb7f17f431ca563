import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { type Aged, AgeOrder, compareAge } from './age-order.ts';

interface Known extends Aged {
  readonly pool: string;
  readonly namespace: string;
  /** It waits for an address to come back; otherwise for something else to change. */
  readonly isInLine: boolean;
}

type Asking = Pick<Known, 'pool' | 'namespace' | 'createdAt'> & { readonly name: string };

/** The objects whose status says why they have no address yet. Those in line for one are served in the order of their creation. */
export class Unserved {
  readonly #compare: typeof compareAge;
  readonly #known = new Map<string, Known>();
  readonly #lines = new Map<string, AgeOrder>();
  readonly #others = new Map<string, AgeOrder>();

  constructor(compare = compareAge) {
    this.#compare = compare;
  }

  add({ pool, namespace, name, createdAt }: Asking, isInLine: boolean): void {
    const key = keyOf({ namespace, name });
    this.remove(key);
    const known = { key, pool, namespace, createdAt, isInLine };
    this.#known.set(key, known);
    const orders = this.#ordersOf(known);
    const order = orders.get(pool) ?? new AgeOrder(this.#compare);
    orders.set(pool, order);
    order.add(known);
  }

  /** The pool where it was in line, or null. An object that was deleted and made anew may be of another pool now. */
  remove(key: string): string | null {
    const known = this.#known.get(key);
    if (known === undefined) return null;
    this.#known.delete(key);
    const orders = this.#ordersOf(known);
    const order = orders.get(known.pool);
    order?.remove(known);
    if (order?.size === 0) orders.delete(known.pool);
    return known.isInLine ? known.pool : null;
  }

  has(key: string): boolean {
    return this.#known.has(key);
  }

  /** How many are in line, with this one. */
  countWith({ pool, namespace, name }: Asking): number {
    const known = this.#known.get(keyOf({ namespace, name }));
    const isCounted = known?.isInLine === true && known.pool === pool;
    return (this.#lines.get(pool)?.size ?? 0) + (isCounted ? 0 : 1);
  }

  countBefore(asking: Asking): number {
    const own = { createdAt: asking.createdAt, key: keyOf(asking) };
    return this.#lines.get(asking.pool)?.countBefore(own) ?? 0;
  }

  /** The keys of those that are first in line. */
  first(pool: string, count: bigint): string[] {
    const line = this.#lines.get(pool);
    if (line === undefined) return [];
    return line.keys(count > BigInt(line.size) ? line.size : Number(count));
  }

  /** The keys of those that wait for something else than an address. */
  notInLine(pool: string): string[] {
    return this.#others.get(pool)?.keys() ?? [];
  }

  /** Looks at all of them: for changes that people make. */
  keysOf(where: (known: Known) => boolean): string[] {
    const found = [...this.#known.values()].filter(where);
    return found.sort(this.#compare).map(({ key }) => key);
  }

  #ordersOf({ isInLine }: Known): Map<string, AgeOrder> {
    return isInLine ? this.#lines : this.#others;
  }
}
