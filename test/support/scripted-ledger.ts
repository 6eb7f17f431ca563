import type { Ledger } from '#pkg/ledger/ledger.ts';

/** A ledger that delegates to another one, except for the methods of the script. */
export function scriptedLedger(below: Ledger, script: Partial<Ledger>): Ledger {
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
    watchPool: (pool, tell) => below.watchPool(pool, tell),
    close: () => below.close(),
    ...script,
  };
}
