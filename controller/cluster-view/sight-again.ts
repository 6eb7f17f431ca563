import type { NodeFacts } from './node-facts.ts';
import { seeRenewal } from './node-lease.ts';
import type { NodeSighting } from './node-table.ts';

/** Node and lease as an uncached read returned them. */
export interface NodeReading {
  /** Null: there is no such Node object. */
  readonly node: NodeFacts | null;
  readonly renewTime: string | null;
}

/** `known` comes from the watches and may lag behind: a lease that differs from it was renewed since. */
export function sightAgain(
  known: NodeSighting,
  { node, renewTime }: NodeReading,
  nowMs: number,
  longestGapMs: number,
): NodeSighting {
  return {
    node,
    goneSinceMs: node === null ? (known.goneSinceMs ?? nowMs) : null,
    readySinceMs: node?.isReady === true ? (known.readySinceMs ?? nowMs) : null,
    lease: renewTime === null ? known.lease : seeRenewal(known.lease, renewTime, nowMs, longestGapMs),
    lookedSinceMs: known.lookedSinceMs,
  };
}
