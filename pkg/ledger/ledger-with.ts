import type { Ledger } from './ledger.ts';

/** The same ledger, with some of its methods done in another way. */
export function ledgerWith(below: Ledger, changed: Partial<Ledger>): Ledger {
  return {
    create: (spec, limits) => below.create(spec, limits),
    takeOver: (seen, next, limits) => below.takeOver(seen, next, limits),
    amend: (seen, next, limits) => below.amend(seen, next, limits),
    release: (seen, limits) => below.release(seen, limits),
    get: (name) => below.get(name),
    byHolder: (key) => below.byHolder(key),
    byNode: (node) => below.byNode(node),
    list: (query) => below.list(query),
    takenOf: (pool) => below.takenOf(pool),
    watchPool: (pool, onChange) => below.watchPool(pool, onChange),
    close: () => below.close(),
    ...changed,
  };
}
