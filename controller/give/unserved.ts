import { keyOf } from './fresh-objects.ts';

interface Known {
  readonly key: string;
  readonly pool: string;
  readonly namespace: string;
  readonly createdAt: string;
  /** It waits for an address to come back; otherwise for something else to change. */
  readonly isInLine: boolean;
}

type Asking = Pick<Known, 'pool' | 'namespace' | 'createdAt'> & { readonly name: string };

/** The objects that were told why they have no address yet. Those in line for one are served in the order of their creation. */
export class Unserved {
  readonly #byPool = new Map<string, Map<string, Known>>();
  readonly #poolOf = new Map<string, string>();

  add({ pool, namespace, name, createdAt }: Asking, isInLine: boolean): void {
    const key = keyOf({ namespace, name });
    this.remove(key);
    this.#poolOf.set(key, pool);
    const known = this.#byPool.get(pool) ?? new Map<string, Known>();
    this.#byPool.set(pool, known.set(key, { key, pool, namespace, createdAt, isInLine }));
  }

  /** The pool where it was in line, or null. An object that was deleted and made anew may be of another pool now. */
  remove(key: string): string | null {
    const pool = this.#poolOf.get(key);
    if (pool === undefined) return null;
    this.#poolOf.delete(key);
    const ofPool = this.#byPool.get(pool);
    const known = ofPool?.get(key);
    ofPool?.delete(key);
    if (ofPool?.size === 0) this.#byPool.delete(pool);
    return known?.isInLine === true ? pool : null;
  }

  /** How many are in line, with this one. */
  countWith({ pool, namespace, name }: Asking): number {
    const key = keyOf({ namespace, name });
    return this.#inLine(pool).filter((other) => other.key !== key).length + 1;
  }

  countBefore(asking: Asking): number {
    const own = { createdAt: asking.createdAt, key: keyOf(asking) };
    return this.#inLine(asking.pool).filter((other) => compareAge(other, own) < 0).length;
  }

  /** The keys of those that are first in line. */
  first(pool: string, count: bigint): string[] {
    const inLine = this.#inLine(pool).sort(compareAge);
    return inLine.slice(0, count > BigInt(inLine.length) ? inLine.length : Number(count)).map(({ key }) => key);
  }

  keysOf(where: (known: Known) => boolean): string[] {
    const all = [...this.#byPool.values()].flatMap((ofPool) => [...ofPool.values()]);
    return all
      .filter(where)
      .sort(compareAge)
      .map(({ key }) => key);
  }

  #inLine(pool: string): Known[] {
    return [...(this.#byPool.get(pool)?.values() ?? [])].filter(({ isInLine }) => isInLine);
  }
}

function compareAge(a: Pick<Known, 'createdAt' | 'key'>, b: Pick<Known, 'createdAt' | 'key'>): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}
