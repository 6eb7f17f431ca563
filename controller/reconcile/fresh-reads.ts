/** Reads that several judgements may share, if each of them began to be made before the read did. */
export class FreshReads {
  readonly #nowMs: () => number;
  readonly #forMs: number;
  readonly #reads = new Map<string, { readonly startedMs: number; readonly result: Promise<unknown> }>();

  constructor(nowMs: () => number, forMs: number) {
    this.#nowMs = nowMs;
    this.#forMs = forMs;
  }

  /** `notBeforeMs`: when the record to be judged was seen. An older read could speak of a world before it. */
  async read<T>(key: string, notBeforeMs: number, read: () => Promise<T>): Promise<T> {
    const nowMs = this.#nowMs();
    const known = this.#reads.get(key);
    if (known !== undefined && known.startedMs >= notBeforeMs && nowMs - known.startedMs < this.#forMs) {
      return known.result as Promise<T>;
    }
    this.#dropOld(nowMs);
    const result = read();
    const entry = { startedMs: nowMs, result };
    this.#reads.delete(key); // a map keeps the order of first entry, and the oldest are dropped first
    this.#reads.set(key, entry);
    result.catch(() => {
      if (this.#reads.get(key) === entry) this.#reads.delete(key);
    });
    return result;
  }

  #dropOld(nowMs: number): void {
    for (const [key, { startedMs }] of this.#reads) {
      if (nowMs - startedMs < this.#forMs) return;
      this.#reads.delete(key);
    }
  }
}
