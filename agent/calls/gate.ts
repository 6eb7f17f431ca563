import { IpamError } from '#pkg/errors/ipam-error.ts';

export interface GateLimits {
  readonly working: number;
  readonly queued: number;
}

/** A working slot: held while a call works, given up while it waits, so that waiting costs nobody else anything. */
export interface Slot {
  rest<T>(wait: () => Promise<T>): Promise<T>;
  /** Parts of one call, at once: their slot is given up while none of them works. */
  share<T>(parts: readonly ((slot: Slot) => Promise<T>)[]): Promise<PromiseSettledResult<T>[]>;
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
    const slot = new SharedSlot(
      () => this.#enter(),
      () => this.#leave(),
    );
    try {
      return await task(slot);
    } finally {
      this.#leave();
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

class SharedSlot implements Slot {
  readonly #enter: () => Promise<void>;
  readonly #leave: () => void;
  #working = 1;
  #entering: Promise<void> | null = null;

  constructor(enter: () => Promise<void>, leave: () => void) {
    this.#enter = enter;
    this.#leave = leave;
  }

  async rest<T>(wait: () => Promise<T>): Promise<T> {
    this.#stop();
    try {
      return await wait();
    } finally {
      await this.#resume();
    }
  }

  async share<T>(parts: readonly ((slot: Slot) => Promise<T>)[]): Promise<PromiseSettledResult<T>[]> {
    this.#working += parts.length - 1;
    let open = parts.length;
    const run = async (part: (slot: Slot) => Promise<T>) => {
      try {
        return await part(this);
      } finally {
        open -= 1;
        // The last one to end leaves the slot to the call itself.
        if (open > 0) this.#stop();
      }
    };
    return await Promise.allSettled(parts.map(run));
  }

  #stop(): void {
    this.#working -= 1;
    if (this.#working === 0) this.#leave();
  }

  async #resume(): Promise<void> {
    this.#working += 1;
    if (this.#working === 1) this.#entering = this.#enter();
    await this.#entering;
  }
}
