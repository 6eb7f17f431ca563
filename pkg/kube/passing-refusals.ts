import type { Failure } from './outcome.ts';

const FORBIDDEN_FOR_MS = 3_000;

/**
 * A freshly started API server answers 403 to what it allows, until its authorizer has read the roles. So a Forbidden
 * is worth a few more tries, with pauses, and is the answer only if it lasts.
 */
export class PassingRefusals {
  readonly #forMs: number;
  #sinceMs: number | null = null;

  constructor(forMs = FORBIDDEN_FOR_MS) {
    this.#forMs = forMs;
  }

  /** Whether a try after the pause would still be soon enough after the first refusal. */
  mayPass({ because }: Failure, nowMs: number, pauseMs: number): boolean {
    if (because !== 'Forbidden') return false;
    this.#sinceMs ??= nowMs;
    return nowMs + pauseMs < this.#sinceMs + this.#forMs;
  }
}
