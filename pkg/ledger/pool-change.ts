import type { RecordState } from '#pkg/record/ip-record.ts';

/**
 * What happened to one record of a watched pool. Every ledger reports `freed` and `suspect`; a ledger that other
 * processes write to reports `taken` too. `unknown`: changes may have been missed; read the pool again.
 */
export type PoolChange =
  | { readonly kind: 'freed'; readonly name: string; readonly uid: string }
  | { readonly kind: 'taken'; readonly name: string; readonly state: Exclude<RecordState, 'Suspect'> }
  | { readonly kind: 'suspect'; readonly name: string }
  | { readonly kind: 'unknown' };

export type OnPoolChange = (change: PoolChange) => void;
