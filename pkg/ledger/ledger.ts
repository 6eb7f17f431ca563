import type { Family } from '#pkg/ip/address.ts';
import type { IpRecord, RecordSpec, RecordState } from '#pkg/record/ip-record.ts';
import type { OnPoolChange } from './pool-change.ts';

/**
 * `record` of a lost create is the record that has the address now, if the ledger knows it. `mayStillLand`: a try of this very
 * create was never answered, and may yet make the record once the address is free again, or was released by us. Before
 * the caller takes another name, or gives this one back, it writes down that this one was abandoned (rule 5).
 */
export type CreateOutcome =
  | { readonly taken: true; readonly record: IpRecord; readonly mayStillLand?: true }
  | { readonly taken: false; readonly record: IpRecord | null; readonly mayStillLand?: true };

/** `gone`: no such record any more. `changed`: it is not the one that was seen. Neither is ever repeated with a fresh version. */
export type Refusal = 'gone' | 'changed';
export type UpdateOutcome =
  | { readonly done: true; readonly record: IpRecord }
  | { readonly done: false; readonly because: Refusal };
export type ReleaseOutcome = { readonly done: true } | { readonly done: false; readonly because: Refusal };

/** A number is an address only with its family and its domain. */
export interface TakenAddress {
  readonly value: bigint;
  readonly family: Family;
  readonly domain: string;
  readonly state: RecordState;
  /** Where its holder is, or was; empty for holders without a node. */
  readonly node: string;
}

export interface RecordQuery {
  readonly pool?: string;
  readonly node?: string;
  readonly limit: number;
  /** Name of the last record of the page before; records come in code-unit order of their names. */
  readonly after?: string;
}

/** How long a write may take. A ledger in this process needs none; one behind a network stops there, perhaps without knowing. */
export interface WriteLimits {
  /** When to give up, on the clock of `performance.now()`. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
}

export interface CreateLimits extends WriteLimits {
  /** False: the record of the faster caller is not needed, which saves a ledger behind a network a read. */
  readonly tellsHolder?: boolean;
}

/**
 * The ledger of addresses. Every answer is definite: a method either returns what happened or throws an IpamError,
 * and after a throw the write may or may not have happened only where the error's reason is `outcome-unknown`.
 * Once a promise resolved, the write survives a crash of the process and of the machine.
 */
export interface Ledger {
  /** Rule 1: the name decides. Never waits for, and never overwrites, another record. */
  create(spec: RecordSpec, limits?: CreateLimits): Promise<CreateOutcome>;
  /** Rule 3: `Retained` by the same kind/namespace/name, `Suspect` by any holder. Any other change throws `internal` and changes nothing. */
  takeOver(seen: IpRecord, next: RecordSpec, limits?: WriteLimits): Promise<UpdateOutcome>;
  /** A change of one's own record, conditional on what was seen. Address and domain never change; throws `internal` otherwise. */
  amend(seen: IpRecord, next: RecordSpec, limits?: WriteLimits): Promise<UpdateOutcome>;
  /** Rule 2: deletes exactly the record that was seen, by uid and resourceVersion. One that others keep in place is `changed`. */
  release(seen: IpRecord, limits?: WriteLimits): Promise<ReleaseOutcome>;
  /** Null: the address has no holder. A record that is marked as deleted has none either, and only `takenOf` returns it. */
  get(name: string): Promise<IpRecord | null>;
  /** All records of one stable holder key (`holderKey`). */
  byHolder(key: string): Promise<IpRecord[]>;
  byNode(node: string): Promise<IpRecord[]>;
  list(query: RecordQuery): Promise<IpRecord[]>;
  /** What a pool's view is made of: all records that name the pool, be it right or wrong. */
  takenOf(pool: string): Promise<TakenAddress[]>;
  /** Reports changes since the last `takenOf` of the pool, in their order, perhaps more than once; dispose to stop. */
  watchPool(pool: string, onChange: OnPoolChange): Disposable;
  close(): Promise<void>;
}
