import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import type { Ticker } from './ticker.ts';

/** Allows one opening per turn of the event loop, and none while the limit of open sockets is reached. */
export class OpeningLane {
  readonly #hasRoom: () => boolean;
  readonly #ticker: Ticker;
  #last: Promise<unknown> = Promise.resolve();

  constructor(hasRoom: () => boolean, ticker: Ticker) {
    this.#hasRoom = hasRoom;
    this.#ticker = ticker;
  }

  async turn(): Promise<void> {
    const turn = this.#last.then(() => this.#wait());
    this.#last = turn;
    await turn;
  }

  async #wait(): Promise<void> {
    await nextLoopTurn();
    if (this.#hasRoom()) return;
    await this.#ticker.until(() => (this.#hasRoom() ? true : null));
  }
}
