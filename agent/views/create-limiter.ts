import type { Slot } from '#agent/calls/gate.ts';

/** As many calls as an agent works on at once: without lost creates no call waits here. */
const WIDEST = 64;
/** After a lost create. Fewer would slow a pool that becomes full; more would all lose to the same neighbour. */
const AFTER_LOSS = 4;

export interface Permit extends Disposable {
  won(): void;
  lost(): void;
}

/**
 * Limits the creates under way in one pool. A lost create means that another node takes addresses here, and the creates sent
 * after it would be lost too. So the limit drops, and grows by one with each create that succeeds.
 */
export class CreateLimiter {
  readonly #waiting = new Set<() => void>();
  #width = WIDEST;
  #underWay = 0;

  /** Resolves with a permit, or with null when the time is over or the caller is gone. A call that waits holds no slot. */
  async enter(waitMs: number, signal: AbortSignal, slot: Slot): Promise<Permit | null> {
    const deadlineMs = performance.now() + waitMs;
    while (this.#underWay >= this.#width) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0 || signal.aborted) return null;
      await slot.rest(() => this.#wait(leftMs, signal));
    }
    this.#underWay += 1;
    return {
      won: () => {
        this.#width = Math.min(WIDEST, this.#width + 1);
      },
      lost: () => {
        this.#width = AFTER_LOSS;
      },
      [Symbol.dispose]: () => {
        this.#underWay -= 1;
        this.#wake();
      },
    };
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
    this.#waiting.add(wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
    // A call that gives up passes its wake-up on.
    if (!this.#waiting.delete(wake) && signal.aborted) this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting].slice(0, Math.max(0, this.#width - this.#underWay))) {
      this.#waiting.delete(wake);
      wake();
    }
  }
}
