import type { FreeSpace, Residue } from '#pkg/ip/free-space.ts';
import type { Pool } from './pool.ts';

const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

/** Spreads the nodes over a pool; the same for the same names on every run, `size` may be beyond 2^64. */
export function startOffset(node: string, pool: string, size: bigint): bigint {
  if (size <= 0n) return 0n;
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(`${node}\0${pool}`)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  return hash % size;
}

/** Where a node's first search in a pool starts. */
export function startCursor(node: string, pool: Pool): bigint {
  return pool.addresses.nth(startOffset(node, pool.name, pool.addresses.size)) ?? 0n;
}

/** Which addresses of a pool are a node's to take first: of `of` nodes it is the one after `rank` others. */
export interface Share {
  readonly rank: number;
  readonly of: number;
}

/** `nodes`: all that have something of the pool, in any order and as often as they like. */
export function shareOf(node: string, nodes: Iterable<string>): Share {
  const all = new Set(nodes).add(node);
  all.delete('');
  const rank = [...all].filter((other) => other < node).length;
  return { rank, of: all.size };
}

/** Next-fit among the share's own: every `of`th address. Nodes that know of each other do not meet there, however old their views are. */
export function chooseOwn(free: FreeSpace, cursor: bigint, share: Share): bigint | null {
  return free.nextOf(toResidue(share), cursor);
}

export function isOwn(value: bigint, { rank, of }: Share): boolean {
  return of > 1 && value % BigInt(of) === BigInt(rank);
}

/** How many of a share are free; a node that is alone has no share. */
export function countOwn(free: FreeSpace, share: Share): bigint {
  return share.of > 1 ? free.countOf(toResidue(share)) : 0n;
}

/** Where to look when nothing of the share is left: nodes that look at the same time, as they do when a pool gets full, begin in different places. */
export function cursorApart(free: FreeSpace, { rank, of }: Share): bigint | null {
  return free.nth((free.size * BigInt(rank)) / BigInt(of));
}

function toResidue({ rank, of }: Share): Residue {
  return { modulus: BigInt(of), rest: BigInt(rank) };
}
