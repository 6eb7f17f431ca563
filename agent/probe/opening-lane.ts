import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import type { DescriptorCloser } from './descriptor-closer.ts';
import type { Ticker } from './ticker.ts';

const MOST_CLOSING = 256;

/** One opening per turn of the event loop, and none while too many descriptors wait to be closed. */
export class OpeningLane {
  readonly #closer: DescriptorCloser;
  readonly #ticker: Ticker;
  #last: Promise<unknown> = Promise.resolve();

  constructor(closer: DescriptorCloser, ticker: Ticker) {
    this.#closer = closer;
    this.#ticker = ticker;
  }

  async turn(): Promise<void> {
    const turn = this.#last.then(() => this.#wait());
    this.#last = turn;
    await turn;
  }

  async #wait(): Promise<void> {
    await nextLoopTurn();
    if (this.#closer.pending < MOST_CLOSING) return;
    await this.#ticker.until(() => (this.#closer.pending < MOST_CLOSING ? true : null));
  }
}
