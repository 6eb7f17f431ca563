import type { CallOptions } from '#pkg/kube/client/caller.ts';
import { PassingRefusals } from '#pkg/kube/client/passing-refusals.ts';
import { FAILURES, type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { Backoff } from '#pkg/kube/transport/backoff.ts';
import { sleep, type Timing } from '#pkg/kube/transport/timing.ts';

export interface DefiniteOptions {
  /** When to give up, on the clock of the client's timing. */
  readonly deadlineMs: number;
  /** How long one try may take; 5 s unless told. */
  readonly attemptTimeoutMs?: number;
  /** How long a Forbidden is taken for one that passes; see PassingRefusals. */
  readonly forbiddenForMs?: number;
  readonly signal?: AbortSignal;
}

/** `mayStillLand`: a try of this call has no answer that was read and may yet be done, whatever the outcome says about now. */
export type Definite<T> = Outcome<T> & { readonly mayStillLand: boolean };

export interface Write<T> {
  readonly attempt: (options: CallOptions, mayHaveLanded: boolean) => Promise<WriteVerdict<T>>;
  /** Whether a try may be done long after a later one was answered; a conditional write cannot. */
  readonly canLandLate: boolean;
}

/** What one try came to. `isFinal` settles the call even if an earlier try went unanswered. */
export interface WriteVerdict<T> {
  readonly outcome: Outcome<T>;
  readonly isFinal: boolean;
}

const ATTEMPT_TIMEOUT_MS = 5_000;
/** With less time than this a try would bring doubt rather than an answer. */
const SHORTEST_ATTEMPT_MS = 20;
const PAUSE = { firstMs: 50, mostMs: 1_000 };

/**
 * Repeats a write until its outcome is known or the deadline comes. A refusal ends it at once (Forbidden: after a short
 * while), but not after a try that went unanswered: that one may have been let in, so only a verdict about the object
 * itself counts then.
 */
export async function untilDefinite<T>(
  timing: Timing,
  { deadlineMs, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS, forbiddenForMs, signal }: DefiniteOptions,
  { attempt, canLandLate }: Write<T>,
): Promise<Definite<T>> {
  const backoff = new Backoff(PAUSE, timing.random);
  const refusals = new PassingRefusals(forbiddenForMs);
  const giveUp = signal === undefined ? {} : { signal };
  let mayHaveLanded = false;
  let last: Failure = failure('Unreachable', 'no time was left to send it');
  for (;;) {
    const leftMs = deadlineMs - timing.nowMs();
    if (leftMs < SHORTEST_ATTEMPT_MS || signal?.aborted) return unresolved(last, mayHaveLanded);
    const options = { ...giveUp, timeoutMs: Math.min(attemptTimeoutMs, leftMs) };
    const { outcome, isFinal } = await attempt(options, mayHaveLanded);
    if (outcome.ok || isFinal) return { ...outcome, mayStillLand: mayHaveLanded && canLandLate };
    const { retry, mayBeDone } = FAILURES[outcome.because];
    const pauseMs = Math.max(backoff.nextMs(), outcome.retryAfterMs ?? 0);
    const mayPass = refusals.mayPass(outcome, timing.nowMs(), pauseMs);
    if (!retry && mayBeDone) return { ...outcome, mayStillLand: true };
    if (!retry && !mayPass && !mayHaveLanded) return { ...outcome, mayStillLand: false };
    mayHaveLanded ||= mayBeDone;
    last = outcome;
    if (timing.nowMs() + pauseMs > deadlineMs - SHORTEST_ATTEMPT_MS) return unresolved(last, mayHaveLanded);
    await sleep(timing, pauseMs, signal);
  }
}

function unresolved(last: Failure, mayStillLand: boolean): Definite<never> {
  return mayStillLand
    ? { ...failure('Unknown', `it may or may not have been done: ${last.message}`), mayStillLand }
    : { ...last, mayStillLand };
}
