import { keyOf } from './fresh-objects.ts';

interface Unserved {
  readonly key: string;
  readonly pool: string;
  readonly namespace: string;
  readonly createdAt: string;
  /** It waits for an address to come back; otherwise for something else to change. */
  readonly isInLine: boolean;
}

type ClaimName = Pick<Unserved, 'pool' | 'namespace' | 'createdAt'> & { readonly name: string };

/** The claims that were told why they have no address yet. Those in line for one are served in the order of their creation. */
export class UnservedClaims {
  readonly #byPool = new Map<string, Map<string, Unserved>>();
  readonly #poolOf = new Map<string, string>();

  add({ pool, namespace, name, createdAt }: ClaimName, isInLine: boolean): void {
    const key = keyOf({ namespace, name });
    this.remove(key);
    this.#poolOf.set(key, pool);
    const claims = this.#byPool.get(pool) ?? new Map<string, Unserved>();
    this.#byPool.set(pool, claims.set(key, { key, pool, namespace, createdAt, isInLine }));
  }

  /** The pool where it was in line, or null. A claim that was deleted and made anew may be of another pool now. */
  remove(key: string): string | null {
    const pool = this.#poolOf.get(key);
    if (pool === undefined) return null;
    this.#poolOf.delete(key);
    const claims = this.#byPool.get(pool);
    const claim = claims?.get(key);
    claims?.delete(key);
    if (claims?.size === 0) this.#byPool.delete(pool);
    return claim?.isInLine === true ? pool : null;
  }

  /** How many are in line, with this one. */
  countWith({ pool, namespace, name }: ClaimName): number {
    const key = keyOf({ namespace, name });
    return this.#inLine(pool).filter((other) => other.key !== key).length + 1;
  }

  countBefore(claim: ClaimName): number {
    const own = { createdAt: claim.createdAt, key: keyOf(claim) };
    return this.#inLine(claim.pool).filter((other) => compareAge(other, own) < 0).length;
  }

  /** The keys of those that are first in line. */
  first(pool: string, count: bigint): string[] {
    const inLine = this.#inLine(pool).sort(compareAge);
    return inLine.slice(0, count > BigInt(inLine.length) ? inLine.length : Number(count)).map(({ key }) => key);
  }

  keysOf(where: (claim: Unserved) => boolean): string[] {
    const all = [...this.#byPool.values()].flatMap((claims) => [...claims.values()]);
    return all
      .filter(where)
      .sort(compareAge)
      .map(({ key }) => key);
  }

  #inLine(pool: string): Unserved[] {
    return [...(this.#byPool.get(pool)?.values() ?? [])].filter(({ isInLine }) => isInLine);
  }
}

function compareAge(a: Pick<Unserved, 'createdAt' | 'key'>, b: Pick<Unserved, 'createdAt' | 'key'>): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}
