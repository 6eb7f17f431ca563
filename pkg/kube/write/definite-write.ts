import { type CallOptions, PassingRefusals } from '#pkg/kube/client/caller.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Seen } from '#pkg/kube/client/request-options.ts';
import type { KubeObject, NewObject, Resource, SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { FAILURES, type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { Backoff, pauseAfter, sleep, type Timing } from '#pkg/kube/transport/timing.ts';

const GONE: Outcome<null> = { ok: true, object: null };

interface CreateDefiniteOptions extends DefiniteOptions {
  /** Whether an object of that name is the one that this call wrote. */
  readonly isOurs: (found: KubeObject) => boolean;
}

/**
 * Creates one object, once. An attempt without an answer is repeated on the same name. If the name is then taken, the object is
 * read, to see whether an earlier attempt or another client wrote it. A 404 decides nothing: the attempt may still arrive.
 */
export function createDefinite(
  client: KubeClient,
  resource: Resource,
  object: NewObject,
  { isOurs, ...options }: CreateDefiniteOptions,
): Promise<Definite<KubeObject>> {
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject>> => {
    const outcome = await client.create(resource, object, call);
    if (outcome.ok || outcome.because !== 'AlreadyExists' || !mayHaveLanded) return { outcome, isFinal: false };
    const found = await client.get(resource, object.metadata, call);
    if (found.ok) return isOurs(found.object) ? { outcome: found, isFinal: true } : { outcome, isFinal: true };
    return { outcome: again(outcome, found), isFinal: false };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: true });
}

/** The name was taken a moment ago, and it is unknown by which client. */
function again(taken: Failure, found: Failure): Failure {
  return found.because === 'NotFound' ? taken : found;
}

interface UpdateDefiniteOptions extends DefiniteOptions {
  /** Whether the object is now as this call wrote it. */
  readonly isOurs: (found: KubeObject) => boolean;
  readonly subresource?: 'status';
}

/**
 * A conditional update, done at most once: a late attempt finds another resourceVersion and is refused. So a conflict after an
 * unanswered attempt is the write of this call or of another client, and a read of the object shows which.
 */
export function updateDefinite(
  client: KubeClient,
  resource: Resource,
  object: SeenObject,
  { isOurs, subresource, ...options }: UpdateDefiniteOptions,
): Promise<Definite<KubeObject>> {
  const part = subresource === undefined ? {} : { subresource };
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject>> => {
    const outcome = await client.update(resource, object, { ...call, ...part });
    if (outcome.ok || outcome.because === 'NotFound') return { outcome, isFinal: true };
    if (outcome.because !== 'Conflict' || !mayHaveLanded) return { outcome, isFinal: false };
    const found = await client.get(resource, object.metadata, call);
    if (found.ok) return { outcome: isOurs(found.object) ? found : outcome, isFinal: true };
    return { outcome: found, isFinal: found.because === 'NotFound' };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: false });
}

/**
 * Deletes exactly the object that was seen. After an unanswered attempt its absence counts as done, because a uid never comes back.
 * An object with finalizers is only marked for deletion, and is returned.
 */
export function deleteDefinite(
  client: KubeClient,
  resource: Resource,
  seen: Seen,
  options: DefiniteOptions,
): Promise<Definite<KubeObject | null>> {
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject | null>> => {
    const outcome = await client.delete(resource, seen, call);
    if (outcome.ok || !mayHaveLanded) return { outcome, isFinal: false };
    if (outcome.because === 'NotFound') return { outcome: GONE, isFinal: true };
    if (outcome.because !== 'Conflict') return { outcome, isFinal: false };
    const found = await client.get(resource, seen, { ...call, form: 'metadata' });
    if (!found.ok)
      return found.because === 'NotFound' ? { outcome: GONE, isFinal: true } : { outcome: found, isFinal: false };
    const { uid, deletionTimestamp } = found.object.metadata;
    if (uid !== seen.uid) return { outcome: GONE, isFinal: true };
    return { outcome: deletionTimestamp === undefined ? outcome : found, isFinal: true };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: false });
}

export interface DefiniteOptions {
  /** When to give up, on the clock of the client's timing. */
  readonly deadlineMs: number;
  /** How long one attempt may take; the default is 5 s. */
  readonly attemptTimeoutMs?: number;
  /** How long a Forbidden may last before it counts; see PassingRefusals. */
  readonly forbiddenForMs?: number;
  readonly signal?: AbortSignal;
}

/** `mayStillLand`: an attempt of this call had no answer and may still be done later, whatever the outcome says about now. */
type Definite<T> = Outcome<T> & { readonly mayStillLand: boolean };

interface Write<T> {
  readonly attempt: (options: CallOptions, mayHaveLanded: boolean) => Promise<WriteVerdict<T>>;
  /** Whether an attempt may be done long after a later one was answered. A conditional write cannot. */
  readonly canLandLate: boolean;
}

/** The outcome of one attempt. `isFinal` ends the call even if an earlier attempt had no answer. */
interface WriteVerdict<T> {
  readonly outcome: Outcome<T>;
  readonly isFinal: boolean;
}

const ATTEMPT_TIMEOUT_MS = 5_000;
/** With less time than this an attempt would probably end without an answer. */
const SHORTEST_ATTEMPT_MS = 20;
const PAUSE = { firstMs: 50, mostMs: 1_000 };

/**
 * Repeats a write until its outcome is known or the deadline comes. A refusal ends it at once (Forbidden: after a short while), but
 * not after an attempt without an answer. That attempt may have been accepted, so only a statement about the object itself counts.
 */
async function untilDefinite<T>(
  timing: Timing,
  { deadlineMs, attemptTimeoutMs = ATTEMPT_TIMEOUT_MS, forbiddenForMs, signal }: DefiniteOptions,
  { attempt, canLandLate }: Write<T>,
): Promise<Definite<T>> {
  let backoff: Backoff | null = null;
  const refusals = new PassingRefusals(forbiddenForMs);
  const giveUp = signal === undefined ? {} : { signal };
  let mayHaveLanded = false;
  let last: Failure = failure('OutOfTime', 'no time was left to send it');
  for (;;) {
    const leftMs = deadlineMs - timing.nowMs();
    if (leftMs < SHORTEST_ATTEMPT_MS || signal?.aborted) return unresolved(last, mayHaveLanded);
    const options = { ...giveUp, timeoutMs: Math.min(attemptTimeoutMs, leftMs) };
    const { outcome, isFinal } = await attempt(options, mayHaveLanded);
    if (outcome.ok || isFinal) return { ...outcome, mayStillLand: mayHaveLanded && canLandLate };
    const { retry, mayBeDone } = FAILURES[outcome.because];
    backoff ??= new Backoff(PAUSE, timing.random);
    const pauseMs = pauseAfter(outcome, backoff.nextMs(), timing.random);
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
