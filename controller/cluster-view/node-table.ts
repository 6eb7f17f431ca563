import type { NodeFacts } from './node-facts.ts';
import { type NodeLease, seeRenewal } from './node-lease.ts';

/** The facts about a node. Times are on the monotonic clock of this leader, because clocks of other hosts are not trusted. */
export interface NodeSighting {
  /** Null: there is no such Node object. */
  readonly node: NodeFacts | null;
  /** Since when this leader knows that the Node object does not exist. */
  readonly goneSinceMs: number | null;
  /** Since when this leader has seen it Ready; null while it is not. */
  readonly readySinceMs: number | null;
  readonly lease: NodeLease | null;
  /** Since when this leader has been watching. */
  readonly lookedSinceMs: number;
}

/** Beyond this number the nodes that went first are dropped. */
const MOST_GONE = 10_000;

/** A record that names no node: it is not known whether its node is healthy. */
const NOWHERE: NodeSighting = {
  node: { isReady: false, isOutOfService: false },
  goneSinceMs: null,
  readySinceMs: null,
  lease: null,
  lookedSinceMs: 0,
};

export class NodeTable {
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #readySinceMs = new Map<string, number>();
  readonly #leases = new Map<string, NodeLease>();
  readonly #goneSinceMs = new Map<string, number>();
  readonly #longestGapMs: number;
  #lookedSinceMs = 0;

  /** `longestGapMs`: a longer time between two renewals counts as a gap. */
  constructor(longestGapMs: number) {
    this.#longestGapMs = longestGapMs;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** From this time on, a node that is not in the table counts as gone. */
  startLooking(nowMs: number): void {
    this.#lookedSinceMs = nowMs;
  }

  sighting(name: string): NodeSighting {
    if (name === '') return NOWHERE;
    const node = this.#nodes.get(name) ?? null;
    return {
      node,
      goneSinceMs: node === null ? (this.#goneSinceMs.get(name) ?? this.#lookedSinceMs) : null,
      readySinceMs: this.#readySinceMs.get(name) ?? null,
      lease: this.#leases.get(name) ?? null,
      lookedSinceMs: this.#lookedSinceMs,
    };
  }

  /** Returns the facts before. */
  put(name: string, node: NodeFacts, nowMs: number): NodeFacts | null {
    const before = this.#nodes.get(name) ?? null;
    this.#nodes.set(name, node);
    if (!node.isReady) this.#readySinceMs.delete(name);
    else if (before?.isReady !== true) this.#readySinceMs.set(name, nowMs);
    this.#goneSinceMs.delete(name);
    return before;
  }

  remove(name: string, nowMs: number): void {
    this.#nodes.delete(name);
    this.#readySinceMs.delete(name);
    this.#goneSinceMs.set(name, nowMs);
    const [oldest] = this.#goneSinceMs.keys();
    if (this.#goneSinceMs.size > MOST_GONE && oldest !== undefined) this.#goneSinceMs.delete(oldest);
  }

  seeLease(name: string, renewTime: string, nowMs: number): void {
    const before = this.#leases.get(name) ?? null;
    this.#leases.set(name, seeRenewal(before, renewTime, nowMs, this.#longestGapMs));
  }

  removeLease(name: string): void {
    this.#leases.delete(name);
  }
}
