/**
 * What happened to one record of a watched pool. Every ledger reports `freed` and `suspect`, `taken` only
 * one that others write to. `unknown`: changes may have been missed, so whoever needs to know reads the pool again.
 */
export type PoolChange =
  | { readonly kind: 'freed'; readonly name: string; readonly uid: string }
  | { readonly kind: 'taken' | 'suspect'; readonly name: string }
  | { readonly kind: 'unknown' };

export type OnPoolChange = (change: PoolChange) => void;
