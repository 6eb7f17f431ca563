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
    return this.#inside(netns, openPacketSocket);
  }

  /** So does a file of /proc/net. Null where the kernel has no IPv6. */
  openAddressListIn(netns: number): number | null {
    return this.#inside(netns, openAddressList);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #inside<T>(netns: number, systemCall: () => T): T {
    enterNetns(netns);
    try {
      return systemCall();
    } finally {
      this.#return();
    }
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

function openAddressList(): number | null {
  try {
    return openSync('/proc/thread-self/net/if_inet6', 'r');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

/** A thread lives in the namespace in which it was started: all of them start here, before the first one is left. */
function startThreadPool(): void {
  stat('/', () => {});
}
