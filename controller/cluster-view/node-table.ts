import type { NodeFacts } from './node-facts.ts';

/** What is known of a node, on the monotonic clock of this leader: no other machine's clock is believed. */
export interface NodeSighting {
  /** Null: there is no such Node object. */
  readonly node: NodeFacts | null;
  /** Since when this leader knows that the Node object is not there. */
  readonly goneSinceMs: number | null;
  /** The last renewal of its lease that was seen, as the node wrote it. */
  readonly renewTime: string | null;
  /** When this leader saw the lease change; null if it never did. */
  readonly renewedAtMs: number | null;
  /** Since when it has been looking. */
  readonly lookedSinceMs: number;
}

/** More would be forgotten oldest first, and those have been gone for long. */
const MOST_GONE = 10_000;

/** A record that names no node: nobody can say that its node is well. */
const NOWHERE: NodeSighting = {
  node: { isReady: false, isOutOfService: false },
  goneSinceMs: null,
  renewTime: null,
  renewedAtMs: null,
  lookedSinceMs: 0,
};

interface Lease {
  readonly renewTime: string;
  readonly renewedAtMs: number | null;
}

export class NodeTable {
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #leases = new Map<string, Lease>();
  readonly #goneSinceMs = new Map<string, number>();
  #lookedSinceMs = 0;

  get size(): number {
    return this.#nodes.size;
  }

  /** From here on what is not known is not there. */
  startLooking(nowMs: number): void {
    this.#lookedSinceMs = nowMs;
  }

  sighting(name: string): NodeSighting {
    if (name === '') return NOWHERE;
    const node = this.#nodes.get(name) ?? null;
    const lease = this.#leases.get(name);
    return {
      node,
      goneSinceMs: node === null ? (this.#goneSinceMs.get(name) ?? this.#lookedSinceMs) : null,
      renewTime: lease?.renewTime ?? null,
      renewedAtMs: lease?.renewedAtMs ?? null,
      lookedSinceMs: this.#lookedSinceMs,
    };
  }

  /** What was known before. */
  put(name: string, node: NodeFacts): NodeFacts | null {
    const before = this.#nodes.get(name) ?? null;
    this.#nodes.set(name, node);
    this.#goneSinceMs.delete(name);
    return before;
  }

  remove(name: string, nowMs: number): void {
    this.#nodes.delete(name);
    this.#goneSinceMs.set(name, nowMs);
    const [oldest] = this.#goneSinceMs.keys();
    if (this.#goneSinceMs.size > MOST_GONE && oldest !== undefined) this.#goneSinceMs.delete(oldest);
  }

  /** The first sight of a lease is no renewal: it may be a year old. */
  seeLease(name: string, renewTime: string, nowMs: number): void {
    const before = this.#leases.get(name);
    if (before?.renewTime === renewTime) return;
    this.#leases.set(name, { renewTime, renewedAtMs: before === undefined ? null : nowMs });
  }

  removeLease(name: string): void {
    this.#leases.delete(name);
  }
}
