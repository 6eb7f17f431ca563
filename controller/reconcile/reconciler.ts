import type { Logger } from 'pino';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Failure, Outcome } from '#pkg/kube/objects/outcome.ts';
import { Backoff, type BackoffRange } from '#pkg/kube/transport/timing.ts';
import { inSlices } from '#pkg/kube/watch/in-slices.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';

/** What every reconciler of the leader is given. */
export interface ReconcilerContext {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly isLeader: () => boolean;
  readonly now: () => Date;
}

/** Adds a key to the work queue. Calls within the debounce time are answered by one pass. */
export type Enqueue = (key: string) => void;

/** Without an object the pass ends: `requeueMs` says when the next one is due, undefined that nothing is left to do. */
type Written<T> = { readonly object: T; readonly requeueMs?: undefined } | { readonly requeueMs: number | undefined };

export interface Pass {
  readonly enqueue: Enqueue;
  /** Sends one write if this process still leads. NotFound, or no namespace to create it in: done. Conflict: requeue with backoff. Any other failure throws. */
  write<T>(what: string, send: () => Promise<Outcome<T>>): Promise<Written<T>>;
}

export interface Reconciler {
  /** What a key names, as a field of the log. */
  readonly kind: string;
  /** The log message of a pass that failed. */
  readonly failed: string;
  readonly debounceMs: number;
  readonly workers?: number;
  /** The backoff of a key whose pass failed; that of the work queue by default. */
  readonly backoff?: BackoffRange;
  /** No pass starts before these have synced: in a cache that is not complete an existing object looks deleted. */
  readonly caches: readonly { readonly synced: Promise<void> }[];
  /** Called once the caches have synced: subscribes to changes and enqueues what exists already, if it is not many. */
  readonly watch: (enqueue: Enqueue) => readonly Disposable[];
  /** The keys of what exists already, where there may be very many. They are read after `watch`, in slices. */
  readonly existing?: () => Iterable<string>;
  /** Brings one key to its desired state; repeating it changes nothing. A number: requeue in so many ms. What it throws is retried with backoff. */
  readonly reconcile: (key: string, pass: Pass) => Promise<number | undefined>;
}

const NOT_LEADER_REQUEUE_MS = 2_000;
const MOST_CONFLICT_MS = 15_000;

/** Runs until it is disposed, which waits for the passes under way. */
export function startReconciler({ client, log, isLeader }: ReconcilerContext, reconciler: Reconciler): AsyncDisposable {
  const { kind, failed, debounceMs, workers, backoff, caches, watch, existing, reconcile } = reconciler;
  /** Of the keys whose last pass ended with a conflict. */
  const conflicts = new Map<string, Backoff>();
  const nextConflictMs = (key: string): number => {
    const backoff =
      conflicts.get(key) ?? new Backoff({ firstMs: debounceMs, mostMs: MOST_CONFLICT_MS }, client.timing.random);
    conflicts.set(key, backoff);
    return Math.max(debounceMs, backoff.nextMs());
  };
  const runPass = async (key: string): Promise<number | undefined> => {
    if (!isLeader()) return NOT_LEADER_REQUEUE_MS;
    let conflictMs: number | null = null;
    const write: Pass['write'] = async (what, send) => {
      if (!isLeader()) return { requeueMs: NOT_LEADER_REQUEUE_MS };
      const outcome = await send();
      if (outcome.ok) return { object: outcome.object };
      if (outcome.because === 'NotFound' || outcome.isNamespaceGone === true) return { requeueMs: undefined };
      if (outcome.because !== 'Conflict' && outcome.because !== 'AlreadyExists') throw new FailedRequest(what, outcome);
      // The watch mostly delivers the newer version within the debounce time. A pass may have many conflicts.
      conflictMs ??= nextConflictMs(key);
      return { requeueMs: conflictMs };
    };
    const requeueMs = await reconcile(key, { enqueue, write });
    if (conflictMs === null) conflicts.delete(key);
    return requeueMs;
  };
  const queue = new WorkQueue({
    reconcile: runPass,
    onTrouble: (key, thrown, retryInMs) => log.warn({ [kind]: key, err: thrown, retryInMs }, failed),
    ...omitAbsent({ workers, backoff, timing: client.timing }),
  });
  const enqueue: Enqueue = (key) => queue.addAfter(key, debounceMs);
  const stack = new AsyncDisposableStack();
  const ended = new AbortController();
  stack.defer(() => ended.abort());
  stack.use(queue);
  void Promise.all(caches.map(({ synced }) => synced)).then(
    () => {
      if (stack.disposed) return;
      for (const subscription of watch(enqueue)) stack.use(subscription);
      if (existing !== undefined) void inSlices(existing(), enqueue, ended.signal);
    },
    () => {}, // closed before it had synced
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** A request that failed for a reason that may pass: thrown, so that the work queue retries it. */
export class FailedRequest extends Error {
  override readonly name = 'FailedRequest';
  readonly failure: Failure;

  constructor(what: string, failure: Failure) {
    super(`${what}: ${failure.because}: ${failure.message}`);
    this.failure = failure;
  }
}
