import { relationTo } from '#pkg/autopool/identity.ts';
import { type Interval, IntervalSet } from '#pkg/ip/interval-set.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { LeftRanges, SubnetPool, SubnetSituation } from './subnet-situation.ts';

/** What the pools of a subnet, and those that were deleted, had until a moment ago. */
export class DroppedRanges {
  readonly all: IntervalSet;
  /** Addresses that more than one of them dropped. */
  readonly #shared: IntervalSet;
  readonly #goneOf: ReadonlyMap<string, readonly LeftRanges[]>;

  constructor({ pools, gone }: Pick<SubnetSituation, 'pools' | 'gone'>) {
    const intervals = [...pools, ...gone].flatMap(({ dropped }) => dropped.intervals());
    this.all = IntervalSet.of(intervals);
    this.#shared = sharedOf(intervals);
    this.#goneOf = Map.groupBy(gone, ({ pool }) => pool?.auto?.applicationUid ?? '');
  }

  /** What the pool, or a deleted pool of the same application, dropped and no other one did: it may have that again at once. */
  of(key: AutoPoolKey, own: SubnetPool | null): IntervalSet {
    const gone = this.#goneOf.get(key.application.uid) ?? [];
    const before = gone.filter(({ pool }) => pool !== null && relationTo(pool, key) === 'own');
    const intervals = before.flatMap(({ dropped }) => dropped.intervals());
    return IntervalSet.of([...intervals, ...(own?.dropped.intervals() ?? [])]).subtract(this.#shared);
  }
}

function sharedOf(intervals: readonly Interval[]): IntervalSet {
  const shared: Interval[] = [];
  let reach: bigint | null = null;
  for (const { first, last } of intervals.toSorted((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)))) {
    if (reach !== null && first <= reach) shared.push({ first, last: last < reach ? last : reach });
    if (reach === null || last > reach) reach = last;
  }
  return IntervalSet.of(shared);
}
