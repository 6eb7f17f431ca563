import { close } from 'node:fs';

/** Half of the thread pool: closing a packet socket waits for an RCU grace period, some 10 ms. */
const AT_ONCE = 2;

export class DescriptorCloser {
  readonly #waiting: number[] = [];
  #closing = 0;

  get pending(): number {
    return this.#waiting.length + this.#closing;
  }

  close(fd: number): void {
    this.#waiting.push(fd);
    this.#closeNext();
  }

  #closeNext(): void {
    if (this.#closing === AT_ONCE) return;
    const fd = this.#waiting.shift();
    if (fd === undefined) return;
    this.#closing += 1;
    close(fd, () => {
      this.#closing -= 1;
      this.#closeNext();
    });
  }
}
