import type { Slot } from '#agent/calls/gate.ts';

/** As many as an agent works on at once: without lost creates nobody ever waits here. */
const WIDEST = 64;
/** Fewer would let a pool that gets full wait, more would run into the next block together. */
const AFTER_LOSS = 4;

export interface Turn extends Disposable {
  won(): void;
  lost(): void;
}

/**
 * How many creates in one pool may be under way. A lost create says that another node's block begins here: whatever else
 * is sent behind it would be lost too. So after it only a few go ahead, and with each one won one more.
 */
export class TakingPace {
  readonly #waiting = new Set<() => void>();
  #width = WIDEST;
  #underWay = 0;

  /** Resolves with a turn; null when the time is over or the caller is gone before there is one. Who waits holds no slot. */
  async enter(waitMs: number, signal: AbortSignal, slot: Slot): Promise<Turn | null> {
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
    // One that gives up must not keep the turn that it was woken for.
    if (!this.#waiting.delete(wake) && signal.aborted) this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting].slice(0, Math.max(0, this.#width - this.#underWay))) {
      this.#waiting.delete(wake);
      wake();
    }
  }
}
