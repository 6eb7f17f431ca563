import { AddressList } from './address-list.ts';
import { DescriptorCloser } from './descriptor-closer.ts';
import { HomeNetns } from './home-netns.ts';
import { type NetnsFile, openNetnsFile } from './netns-file.ts';
import { OpeningLane } from './opening-lane.ts';
import { ProbeFailure } from './probe-failure.ts';
import type { Ticker } from './ticker.ts';

/** Each open socket may have one call on another thread, and koffi allows 256 of these. */
const MOST_OPEN = 200;
/** Enough for several bursts, whose sockets close slowly. Not more: a process that ends closes its sockets one by one. */
const MOST_CLOSING = 256;

/** A packet socket in a namespace, which lives at least as long as the socket. */
export interface NetnsSocket extends Disposable {
  readonly fd: number;
  /** Whether the path still leads to the namespace of the socket. */
  isNetnsInPlace(): boolean;
}

export class SocketOpener implements Disposable {
  readonly #directories: readonly string[];
  readonly #home = new HomeNetns();
  readonly #closer = new DescriptorCloser();
  readonly #lane: OpeningLane;
  #openCount = 0;
  #isDisposed = false;

  constructor(directories: readonly string[], ticker: Ticker) {
    this.#directories = directories;
    const hasRoom = () => this.#openCount < MOST_OPEN && this.#closer.pending < MOST_CLOSING;
    this.#lane = new OpeningLane(hasRoom, ticker);
  }

  async open(path: string): Promise<NetnsSocket> {
    using netns = await this.#openNetns(path);
    const fd = this.#home.openSocketIn(netns.fd);
    this.#openCount += 1;
    return { fd, isNetnsInPlace: netns.isInPlace, [Symbol.dispose]: () => this.#close(fd) };
  }

  async openAddressList(path: string): Promise<AddressList> {
    using netns = await this.#openNetns(path);
    return new AddressList(this.#home.openAddressListIn(netns.fd));
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#home[Symbol.dispose]();
  }

  async #openNetns(path: string): Promise<NetnsFile> {
    await this.#lane.turn();
    if (this.#isDisposed) throw new ProbeFailure('the agent stops');
    return openNetnsFile(path, this.#directories);
  }

  #close(fd: number): void {
    this.#openCount -= 1;
    this.#closer.close(fd);
  }
}
