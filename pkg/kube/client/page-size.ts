/** The size of a page of full objects: it is parsed in one piece, in some milliseconds, and is garbage afterwards. */
const WANTED_BYTES = 1 << 20;
/** The first page, while the size of the objects is unknown. */
const FIRST = 100;
const MOST = 500;
const LEAST = 10;
const SHRINK_BY = 4;

/** How many objects the next page of a list should have, learnt from the pages before it. */
export class PageSize {
  readonly #most: number;
  #size: number;

  readonly #wantedBytes: number;

  /**
   * `given`: exactly so many per page unless a page is too large; 0 for all in one. `factor`: pages that are not given are so many times
   * as large as usual.
   */
  constructor(given: number | undefined, factor = 1) {
    this.#wantedBytes = WANTED_BYTES * factor;
    this.#most = given ?? MOST * factor;
    this.#size = given ?? FIRST;
  }

  /** Undefined: no limit. */
  get limit(): number | undefined {
    return this.#size === 0 ? undefined : this.#size;
  }

  learn(objects: number, bytes: number): void {
    if (this.#size === 0 || objects === 0) return;
    const fitting = Math.floor((this.#wantedBytes * objects) / Math.max(1, bytes));
    this.#size = Math.min(this.#most, Math.max(LEAST, fitting));
  }

  /** After an answer that was too large. False: a smaller page cannot be asked for. */
  shrink(): boolean {
    if (this.#size <= 1) return false;
    this.#size = Math.max(1, Math.floor(this.#size / SHRINK_BY));
    return true;
  }
}
