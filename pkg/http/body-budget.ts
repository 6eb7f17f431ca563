import type { IncomingMessage } from 'node:http';

export type BudgetedBody =
  /** `release` when the text and what was made of it are no longer needed. */
  { readonly text: string; readonly release: () => void } | { readonly refusal: 'too-long' | 'too-busy' };

interface Share {
  bytes: number;
  isComplete: boolean;
  readonly giveUp: () => void;
}

/** What JSON.parse makes of an empty list or object, which is two bytes of text. */
const BYTES_PER_VALUE = 40;
const [COMMA, OPENING_BRACKET, OPENING_BRACE] = [0x2c, 0x5b, 0x7b];

/**
 * Bounds the memory for all bodies that are read or worked on at the same time. When they need more, the largest one that is not
 * complete is given up: many senders of unfinished bodies cannot keep a short one from being read.
 */
export class BodyBudget {
  readonly #most: number;
  readonly #shares = new Set<Share>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The rest of a body that is refused is read and dropped, so that the sender can read the refusal; the server's requestTimeout ends it. */
  read(incoming: IncomingMessage, mostBytes: number): Promise<BudgetedBody> {
    const { promise, resolve, reject } = Promise.withResolvers<BudgetedBody>();
    let chunks: Buffer[] = [];
    const share: Share = { bytes: 0, isComplete: false, giveUp: () => refuse('too-busy') };
    const release = () => this.#drop(share);
    const refuse = (refusal: 'too-long' | 'too-busy') => {
      release();
      chunks = [];
      resolve({ refusal });
    };
    this.#shares.add(share);
    if (Number(incoming.headers['content-length'] ?? 0) > mostBytes) refuse('too-long');
    incoming.on('data', (chunk: Buffer) => {
      if (!this.#shares.has(share)) return;
      chunks.push(chunk);
      if (share.bytes + chunk.length > mostBytes) refuse('too-long');
      else this.#grow(share, chunk.length);
    });
    incoming.once('end', () => {
      if (this.#shares.has(share))
        this.#grow(share, BYTES_PER_VALUE * chunks.reduce((sum, it) => sum + countValues(it), 0));
      if (!this.#shares.has(share)) return;
      share.isComplete = true;
      resolve({ text: Buffer.concat(chunks).toString('utf8'), release });
      chunks = [];
    });
    const leave = (why: Error) => {
      if (!share.isComplete) release();
      reject(why);
    };
    incoming.once('error', leave);
    incoming.once('close', () => {
      if (!incoming.readableEnded) leave(new Error('the sender went away before the end of its body'));
    });
    return promise;
  }

  #grow(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
    while (this.#bytes > this.#most) {
      const unfinished = [...this.#shares].filter(({ isComplete }) => !isComplete);
      const largest = unfinished.reduce((most, it) => (it.bytes > most.bytes ? it : most), share);
      largest.giveUp();
      if (largest === share) return;
    }
  }

  #drop(share: Share): void {
    if (this.#shares.delete(share)) this.#bytes -= share.bytes;
  }
}

/** About how many values JSON has; what looks like one inside a text counts too. */
function countValues(chunk: Buffer): number {
  let count = 0;
  for (let at = 0; at < chunk.length; at++) {
    const byte = chunk[at];
    if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) count += 1;
  }
  return count;
}
