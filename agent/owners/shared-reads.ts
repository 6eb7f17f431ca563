interface SharedRead<T> {
  readonly startedMs: number;
  readonly value: Promise<T>;
}

export interface SharedReadsOptions {
  readonly freshMs: number;
  readonly most: number;
  readonly nowMs: () => number;
}

/** One read for all who ask about the same object at about the same time. */
export class SharedReads<T> {
  readonly #options: SharedReadsOptions;
  /** In the order in which they were started. */
  readonly #reads = new Map<string, SharedRead<T>>();

  constructor(options: SharedReadsOptions) {
    this.#options = options;
  }

  /**
   * What another call read a moment ago, if that is enough. Otherwise what was read after this call began: the object may
   * have changed since the earlier read. `read` never rejects.
   */
  async find(key: string, read: () => Promise<T>, isEnough: (value: T) => boolean): Promise<T> {
    const { freshMs, nowMs } = this.#options;
    const askedMs = nowMs();
    const earlier = this.#reads.get(key);
    if (earlier !== undefined && askedMs - earlier.startedMs < freshMs) {
      const value = await earlier.value;
      if (isEnough(value)) return value;
    }
    const current = this.#reads.get(key);
    if (current !== undefined && current !== earlier) return await current.value;
    return await this.#start(key, read);
  }

  #start(key: string, read: () => Promise<T>): Promise<T> {
    const { freshMs, most, nowMs } = this.#options;
    const startedMs = nowMs();
    for (const [oldest, { startedMs: thenMs }] of this.#reads) {
      if (this.#reads.size < most && startedMs - thenMs < freshMs) break;
      this.#reads.delete(oldest);
    }
    const value = read();
    this.#reads.delete(key);
    this.#reads.set(key, { startedMs, value });
    return value;
  }
}
