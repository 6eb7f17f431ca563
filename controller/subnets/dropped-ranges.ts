import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange, parseRange } from '#pkg/ip/range.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';

/**
 * What a pool lost a moment ago: `{"at":"…","ips":["…"]}`, and under `before` what it lost earlier, each with its own time. It goes to no
 * other pool for a minute.
 */
export const DROPPED_RANGES = 'ipledger.io/dropped-ranges';
export const DROPPED_FOR_MS = 60_000;
/** A thousand IPv6 ranges have 82 kB; all annotations together have at most 256 KiB. */
const LONGEST_NOTE = 192 * 1024;
/** A pool that changes all the time would have a note of hundreds of times. */
const STAMP_MS = 1_000;

interface Drop {
  readonly at: string;
  readonly ips: readonly string[];
}

interface Counted {
  readonly at: string;
  readonly forMs: number;
  readonly addresses: IntervalSet;
}

/** What the pool dropped in the last minute, and when the first of it is free. A note that cannot be read counts as none. */
export function readDropped(pool: KubeObject, now: Date): { readonly addresses: IntervalSet; readonly forMs: number } {
  const drops = countedDrops(pool, now);
  return {
    addresses: IntervalSet.of(drops.flatMap(({ addresses }) => addresses.intervals())),
    forMs: drops.length === 0 ? 0 : Math.min(...drops.map(({ forMs }) => forMs)),
  };
}

/** The note of a pool that loses `lost` now and has `addresses` from now on; null: there is nothing to note. */
export function nextDropped(
  pool: KubeObject,
  { lost, addresses }: { readonly lost: IntervalSet; readonly addresses: IntervalSet },
  { family, now }: { readonly family: Family; readonly now: Date },
): string | null {
  const at = new Date(Math.ceil(now.getTime() / STAMP_MS) * STAMP_MS).toISOString();
  const drops = countedDrops(pool, now);
  const same = drops.filter((drop) => drop.at === at).reduce((sum, drop) => sum.union(drop.addresses), lost);
  const [first, ...before] = [{ at, addresses: same }, ...drops.filter((drop) => drop.at !== at)]
    .map((drop) => ({ at: drop.at, left: drop.addresses.subtract(addresses) }))
    .filter(({ left }) => !left.isEmpty)
    .map(({ at: since, left }): Drop => ({ at: since, ips: left.intervals().map((it) => formatRange(family, it)) }));
  return first === undefined ? null : JSON.stringify(before.length === 0 ? first : { ...first, before });
}

function countedDrops(pool: KubeObject, now: Date): Counted[] {
  const note = pool.metadata.annotations?.[DROPPED_RANGES];
  if (note === undefined || note.length > LONGEST_NOTE) return [];
  try {
    const { before = [], ...last } = JSON.parse(note) as Drop & { before?: readonly Drop[] };
    return [last, ...before].flatMap(({ at, ips }) => {
      const forMs = Date.parse(at) + DROPPED_FOR_MS - now.getTime();
      // The clock of the leader that wrote it may be ahead, but not by much.
      if (!(forMs > 0 && forMs <= 2 * DROPPED_FOR_MS)) return [];
      return [{ at, forMs, addresses: IntervalSet.of(ips.map(parseRange)) }];
    });
  } catch {
    return [];
  }
}
