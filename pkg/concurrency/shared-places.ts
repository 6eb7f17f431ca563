export interface PlaceLimits {
  readonly inAll: number;
  readonly inGroup: number;
}

/** Bounds what groups keep at once. When all places are taken, a group with fewer gets one of a group with more, until both have as many. */
export class SharedPlaces {
  readonly #limits: PlaceLimits;
  /** The keys of each group, the latest last. */
  readonly #keysIn = new Map<string, Set<string>>();
  #size = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  countIn(group: string): number {
    return this.#keysIn.get(group)?.size ?? 0;
  }

  take(group: string, key: string): void {
    const keys = this.#keysIn.get(group) ?? new Set<string>();
    if (keys.has(key)) return;
    this.#keysIn.set(group, keys.add(key));
    this.#size += 1;
  }

  free(group: string, key: string): void {
    const keys = this.#keysIn.get(group);
    if (!keys?.delete(key)) return;
    this.#size -= 1;
    if (keys.size === 0) this.#keysIn.delete(group);
  }

  /** Which of the limits leaves no place for one more; null: there is one. */
  fullFor(group: string): keyof PlaceLimits | null {
    if (this.countIn(group) >= this.#limits.inGroup) return 'inGroup';
    return this.#size < this.#limits.inAll ? null : 'inAll';
  }

  /** Whose place goes to one more of this group: the latest that may go, of the largest group that still has as many as this one then. */
  giverFor(group: string, mayGo: (key: string) => boolean): string | null {
    const least = this.countIn(group) + 2;
    const richer = [...this.#keysIn.values()].filter((keys) => keys.size >= least).sort((a, b) => b.size - a.size);
    for (const keys of richer) {
      const last = [...keys].findLast(mayGo);
      if (last !== undefined) return last;
    }
    return null;
  }
}
