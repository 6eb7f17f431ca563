import { DescriptorCloser } from './descriptor-closer.ts';
import { HomeNetns } from './home-netns.ts';
import { openNetnsFile } from './netns-file.ts';
import { OpeningLane } from './opening-lane.ts';
import { ProbeFailure } from './probe-failure.ts';
import type { Ticker } from './ticker.ts';

/** A packet socket in a namespace, which lives at least as long as the socket. */
export interface NetnsSocket extends Disposable {
  readonly fd: number;
  /** Whether the path of the namespace still leads to it. */
  isNetnsInPlace(): boolean;
}

export class SocketOpener implements Disposable {
  readonly #directories: readonly string[];
  readonly #home = new HomeNetns();
  readonly #closer = new DescriptorCloser();
  readonly #lane: OpeningLane;
  #isDisposed = false;

  constructor(directories: readonly string[], ticker: Ticker) {
    this.#directories = directories;
    this.#lane = new OpeningLane(this.#closer, ticker);
  }

  async open(path: string): Promise<NetnsSocket> {
    await this.#lane.turn();
    if (this.#isDisposed) throw new ProbeFailure('the agent stops');
    using netns = openNetnsFile(path, this.#directories);
    const fd = this.#home.openSocketIn(netns.fd);
    return { fd, isNetnsInPlace: netns.isInPlace, [Symbol.dispose]: () => this.#closer.close(fd) };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#home[Symbol.dispose]();
  }
}
