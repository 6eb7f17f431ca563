import type { Failure, Outcome } from '#pkg/kube/objects/outcome.ts';
import { Backoff } from '#pkg/kube/transport/backoff.ts';
import { sleep, type Timing } from '#pkg/kube/transport/timing.ts';

const FORBIDDEN_FOR_MS = 3_000;
const PAUSE = { firstMs: 50, mostMs: 1_000 };

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

/** Asks once, and again only while it is refused in a way that may pass. */
export async function askPastRefusals<T>(
  timing: Timing,
  deadlineMs: number,
  ask: (timeoutMs: number) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const backoff = new Backoff(PAUSE, timing.random);
  const refusals = new PassingRefusals();
  for (;;) {
    const outcome = await ask(Math.max(1, deadlineMs - timing.nowMs()));
    if (outcome.ok) return outcome;
    const pauseMs = backoff.nextMs();
    const isOver = timing.nowMs() + pauseMs >= deadlineMs;
    if (isOver || !refusals.mayPass(outcome, timing.nowMs(), pauseMs)) return outcome;
    await sleep(timing, pauseMs);
  }
}
