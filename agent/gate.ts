import { IpamError } from '#pkg/errors/ipam-error.ts';

export interface GateLimits {
  readonly working: number;
  readonly queued: number;
}

/** A working slot. `rest` gives it up for as long as `wait` takes, so that waiting costs nobody else anything. */
export interface Slot {
  rest<T>(wait: () => Promise<T>): Promise<T>;
}

/** Bounds the calls an agent takes on: so many working, so many queued, everybody else is told at once. */
export class Gate {
  readonly #limits: GateLimits;
  readonly #queue: (() => void)[] = [];
  #admitted = 0;
  #working = 0;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  async admit<T>(task: () => Promise<T>): Promise<T> {
    const most = this.#limits.working + this.#limits.queued;
    if (this.#admitted >= most) {
      throw new IpamError('agent-busy', `the agent already has ${most} calls to work on; try again later`);
    }
    this.#admitted += 1;
    try {
      return await task();
    } finally {
      this.#admitted -= 1;
    }
  }

  async work<T>(task: (slot: Slot) => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await task({ rest: (wait) => this.#rest(wait) });
    } finally {
      this.#leave();
    }
  }

  async #rest<T>(wait: () => Promise<T>): Promise<T> {
    this.#leave();
    try {
      return await wait();
    } finally {
      await this.#enter();
    }
  }

  async #enter(): Promise<void> {
    if (this.#working < this.#limits.working) {
      this.#working += 1;
      return;
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#working -= 1;
    else next();
  }
}
