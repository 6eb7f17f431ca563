import type { Interval } from '#pkg/ip/interval-set.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { findOverlap } from './pool-overlap.ts';

export interface DatedPool {
  readonly pool: Pool;
  /** RFC 3339 in UTC with whole seconds, as the API server writes it: text order is time order. */
  readonly createdAt: string;
}

/**
 * If pools overlap, the earliest one (by creation, then by name) has the addresses. The map says for each later one why it gives
 * out nothing. A pool that overlaps only such a later pool is not in it.
 */
export function findLaterOverlaps(pools: Iterable<DatedPool>): Map<string, string> {
  const refused = new Map<string, string>();
  for (const group of Map.groupBy(pools, ({ pool }) => `${pool.domain}/${pool.family}`).values()) {
    const standing: Pool[] = [];
    for (const { pool } of suspects(group).sort(comparePoolAge)) {
      const overlap = findOverlap(pool, standing);
      if (overlap === null) standing.push(pool);
      else refused.set(pool.name, overlap);
    }
  }
  return refused;
}

/** To compare all pairs of thousands of pools would take seconds, and almost none of them overlap. */
function suspects(pools: readonly DatedPool[]): DatedPool[] {
  const networks = Map.groupBy(pools, ({ pool }) => `${pool.subnet.first}/${pool.subnet.prefix}`);
  const crossing = touching([...networks.values()].flatMap((same) => spans(same[0]?.pool.subnet, same)));
  const sharing = [...networks.values()].flatMap((same) =>
    touching(
      same.flatMap((dated) => dated.pool.addresses.intervals().map((interval) => ({ interval, owners: [dated] }))),
    ),
  );
  return [...new Set([...crossing, ...sharing])];
}

interface Span {
  readonly interval: Interval;
  readonly owners: readonly DatedPool[];
}

function spans(interval: Interval | undefined, owners: readonly DatedPool[]): Span[] {
  return interval === undefined ? [] : [{ interval, owners }];
}

/** The owners of spans that overlap another one. A span that overlaps any earlier span overlaps the one that ends last. */
function touching(all: readonly Span[]): DatedPool[] {
  const ascending = all.toSorted(({ interval: a }, { interval: b }) =>
    a.first < b.first ? -1 : Number(a.first > b.first),
  );
  const found: DatedPool[] = [];
  let furthest: Span | undefined;
  for (const span of ascending) {
    if (furthest !== undefined && span.interval.first <= furthest.interval.last) {
      found.push(...furthest.owners, ...span.owners);
    }
    if (furthest === undefined || span.interval.last > furthest.interval.last) furthest = span;
  }
  return found;
}

/** The earlier pool first; of two from the same second the name decides. */
export function comparePoolAge(a: DatedPool, b: DatedPool): number {
  return compareText(a.createdAt, b.createdAt) || compareText(a.pool.name, b.pool.name);
}
