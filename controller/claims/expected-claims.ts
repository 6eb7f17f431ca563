import { type Aged, AgeOrder, compareAge } from '#controller/give/age-order.ts';

interface Expected extends Aged {
  readonly pool: string;
  readonly namespace: string;
  readonly cluster: string | null;
  /** It is waited for until then. */
  readonly untilMs: number;
}

/** The claims whose IPAddress a move may still bring. A move may bring thousands, and each claim that waits asks for the youngest. */
export class ExpectedClaims {
  readonly #known = new Map<string, Expected>();
  readonly #orders = new Map<string, Map<string, AgeOrder<Expected>>>();

  has(key: string): boolean {
    return this.#known.has(key);
  }

  add(claim: Expected): void {
    const { key, pool } = claim;
    if (this.#known.has(key)) return;
    this.#known.set(key, claim);
    const orders = this.#orders.get(pool) ?? new Map<string, AgeOrder<Expected>>();
    const order = orders.get(groupOf(claim)) ?? new AgeOrder<Expected>(compareAge);
    this.#orders.set(pool, orders.set(groupOf(claim), order));
    order.add(claim);
  }

  remove(key: string): void {
    const claim = this.#known.get(key);
    if (claim === undefined) return;
    this.#known.delete(key);
    const orders = this.#orders.get(claim.pool);
    const order = orders?.get(groupOf(claim));
    order?.remove(claim);
    if (order?.size === 0) orders?.delete(groupOf(claim));
    if (orders?.size === 0) this.#orders.delete(claim.pool);
  }

  /** Two of each namespace, with a cluster and without: whoever is one of them asks for the other. No older one is waited for longer. */
  youngest(pool: string): readonly Expected[] {
    return [...(this.#orders.get(pool)?.values() ?? [])].flatMap((order) => order.youngest(2));
  }
}

/** Those of a group are waited for equally long. */
function groupOf({ namespace, cluster }: Expected): string {
  return `${namespace}/${cluster === null ? 'unnamed' : 'named'}`;
}
