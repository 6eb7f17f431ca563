import { closeSync, openSync, stat, writeSync } from 'node:fs';
import { enterNetns, openPacketSocket } from './libc.ts';

/** The network namespace of this process. A thread leaves it only for the time of one system call. */
export class HomeNetns implements Disposable {
  readonly #fd: number;

  constructor() {
    startThreadPool();
    this.#fd = openSync('/proc/thread-self/ns/net', 'r');
  }

  /** A packet socket stays in the namespace in which it was opened, also when it is used from another one. */
  openSocketIn(netns: number): number {
    return this.#inside(netns, openPacketSocket);
  }

  /** A file of /proc/net stays bound to its namespace too. Null if the kernel has no IPv6. */
  openAddressListIn(netns: number): number | null {
    return this.#inside(netns, openAddressList);
  }

  /** The list of the links of a namespace; it stays bound to the namespace too. */
  openLinkListIn(netns: number): number {
    return this.#inside(netns, () => openSync('/proc/thread-self/net/dev', 'r'));
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

  /** Aborts if it fails: an agent that stays in a pod's namespace would do all further work there. */
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

/** A thread inherits the namespace in which it is started. So the whole pool is started before the first setns. */
function startThreadPool(): void {
  stat('/', () => {});
}
