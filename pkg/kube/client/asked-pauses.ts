import { FAILURES, type Failure, failure } from '#pkg/kube/objects/outcome.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';

/** Beyond this only kinds that pods named as their owners can be in it. */
const MOST_KINDS = 64;

interface Pause {
  readonly untilMs: number;
  readonly message: string;
}

/**
 * Pauses that the API server asked for (Retry-After) and that the call which heard of them could not wait for. They bind the calls
 * that follow: whoever repeats a failed call in a loop need not know about Retry-After.
 */
export class AskedPauses {
  readonly #timing: Timing;
  readonly #pauses = new Map<string, Pause>();

  constructor(timing: Timing) {
    this.#timing = timing;
  }

  note(key: string, { because, retryAfterMs, message }: Failure): void {
    if (retryAfterMs === undefined || !FAILURES[because].retry) return;
    if (this.#pauses.size >= MOST_KINDS) this.#pauses.clear();
    this.#pauses.set(key, { untilMs: this.#timing.nowMs() + retryAfterMs, message });
  }

  /** The failure of a call that would be too early, with what is left of the pause; null if it may be sent. */
  find(key: string): Failure | null {
    const pause = this.#pauses.get(key);
    if (pause === undefined) return null;
    const retryAfterMs = pause.untilMs - this.#timing.nowMs();
    if (retryAfterMs > 0) return { ...failure('TooManyRequests', pause.message), retryAfterMs };
    this.#pauses.delete(key);
    return null;
  }
}
