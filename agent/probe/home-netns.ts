import { closeSync, openSync, stat, writeSync } from 'node:fs';
import { enterNetns, openPacketSocket } from './libc.ts';

/** This process's own network namespace, which its threads leave for the length of one system call only. */
export class HomeNetns implements Disposable {
  readonly #fd: number;

  constructor() {
    startThreadPool();
    this.#fd = openSync('/proc/thread-self/ns/net', 'r');
  }

  /** A packet socket stays in the namespace in which it was opened, whoever uses it from where. */
  openSocketIn(netns: number): number {
    enterNetns(netns);
    try {
      return openPacketSocket();
    } finally {
      this.#return();
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  /** An agent that stays in a pod's namespace would do all its further work there: better none at all. */
  #return(): void {
    try {
      enterNetns(this.#fd);
    } catch (thrown) {
      writeSync(2, `cannot return from a foreign network namespace: ${thrown}\n`);
      process.abort();
    }
  }
}

/** A thread lives in the namespace in which it was started: all of them start here, before the first one is left. */
function startThreadPool(): void {
  stat('/', () => {});
}
