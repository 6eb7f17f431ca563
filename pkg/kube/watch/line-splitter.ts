const NEWLINE = 0x0a;

/** Cuts a byte stream into lines, and holds at most one unfinished line of bounded length. */
export class LineSplitter {
  readonly #maxBytes: number;
  #unfinished: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes; null when a line is longer than allowed. */
  push(chunk: Buffer): string[] | null {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#keep(chunk.subarray(start, end))) return null;
      lines.push(Buffer.concat(this.#unfinished).toString());
      this.#unfinished = [];
      this.#size = 0;
      start = end + 1;
    }
    return this.#keep(chunk.subarray(start)) ? lines : null;
  }

  #keep(part: Buffer): boolean {
    this.#size += part.length;
    if (part.length > 0) this.#unfinished.push(part);
    return this.#size <= this.#maxBytes;
  }
}
