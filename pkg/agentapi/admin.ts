import type { IpRecord } from '#pkg/record/ip-record.ts';

/** What `ipledgerctl` asks the agent: read by a person, so the words are the glossary's. */

export const ADMIN_PATHS = {
  pools: '/v1/ledger/pools',
  records: '/v1/ledger/records',
  explain: '/v1/ledger/explain',
  check: '/v1/ledger/check',
  release: '/v1/ledger/release',
  collect: '/v1/ledger/collect',
} as const;

/** Counts are decimal text: a pool may hold more than 2^53 addresses. */
export interface PoolSummary {
  readonly name: string;
  readonly family: 4 | 6;
  readonly subnet: string;
  readonly domain: string;
  readonly total: string;
  readonly used: string;
  readonly free: string;
  readonly reserved: string;
  readonly isDefault: boolean;
  readonly isDisabled: boolean;
}

export interface PoolsAnswer {
  readonly pools: readonly PoolSummary[];
  /** Files or objects that could not be used, each said in one line. */
  readonly problems: readonly string[];
}

export interface RecordsAnswer {
  readonly records: readonly IpRecord[];
  /** Present when there is more: pass it as `after`. */
  readonly next?: string;
}

/** A record as `ipledgerctl list` and `who` get it from `GET records?address=`; `pools` are the pools that contain the address. */
export interface WhoAnswer {
  readonly address: string;
  readonly records: readonly IpRecord[];
  readonly pools: readonly string[];
  readonly reservedBy: readonly string[];
  /** The agent's clock, for the release of what is shown here. */
  readonly asOfMs: number;
}

export interface ExplainAnswer {
  /** Where the candidates came from, e.g. `CNI configuration` or `default pools`. */
  readonly source: string;
  readonly pools: readonly ExplainedPool[];
  /** What the interface holds already, also from an earlier pod, and what the pod has on other interfaces. Absent: nothing. */
  readonly held?: readonly HeldAddress[];
  /** What may be different for a real ADD, because it is not known here. */
  readonly note?: string;
  /** The error that an ADD would get now. Absent: it would be served. */
  readonly refusal?: { readonly reason: string; readonly message: string };
}

interface HeldAddress {
  readonly address: string;
  readonly interface: string;
  readonly pool: string;
  readonly state: string;
}

export interface ExplainedPool {
  readonly name: string;
  readonly family: 4 | 6;
  /** The order in which it would be tried, from 1; null when it is objected to. */
  readonly place: number | null;
  readonly objection: string | null;
  readonly used: string;
  readonly total: string;
}

export interface Finding {
  readonly kind:
    | 'duplicate-holder'
    | 'in-doubt'
    | 'reserved-address'
    | 'outside-pool'
    | 'unknown-pool'
    | 'overlapping-pools'
    | 'vanished-netns'
    | 'outliving-netns'
    | 'in-use-twice'
    | 'vanished-claim'
    | 'poison-spool'
    | 'broken-pool-file'
    | 'broken-object';
  readonly subject: string;
  readonly message: string;
  /** The names of the records that it is about. */
  readonly records?: readonly string[];
}

export interface CheckAnswer {
  readonly recordsChecked: number;
  readonly findings: readonly Finding[];
}

/** Preconditions as the operator saw them; anything else than exactly this record is refused. */
export interface ReleaseArgs {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** When the operator was shown it: an ADD that was answered with the record since then voids the wish. */
  readonly asOfMs: number;
  /** The operator vouches for it: the sandbox of the holder is gone, or two hosts may use the address. */
  readonly althoughInDoubt?: boolean;
}

export interface ReleaseAnswer {
  readonly released: boolean;
  readonly because?: 'gone' | 'changed';
}

export interface CollectAnswer {
  readonly dryRun: boolean;
  readonly freed: readonly { readonly name: string; readonly holder: string; readonly because: string }[];
  /** Records with weak or young evidence: what is still missing. */
  readonly kept: readonly { readonly name: string; readonly holder: string; readonly because: string }[];
}
