/**
 * Every way a request can end without its object. `retry`: the same request may succeed later without anybody acting.
 * `mayBeDone`: a write that ended so may have been done, or may still be.
 */
export const FAILURES = {
  AlreadyExists: { retry: false, mayBeDone: false },
  /** The object is not the one that was seen: its uid or resourceVersion moved on. */
  Conflict: { retry: false, mayBeDone: false },
  /** The API server names this very object as missing. The only proof that it is gone. */
  NotFound: { retry: false, mayBeDone: false },
  /** Any other 404: the kind or the namespace is not there. Says nothing about the object. */
  NotServed: { retry: false, mayBeDone: false },
  /** The resourceVersion or continue token is no longer (or not yet) known: list anew. */
  Expired: { retry: false, mayBeDone: false },
  Invalid: { retry: false, mayBeDone: false },
  Forbidden: { retry: false, mayBeDone: false },
  Unauthorized: { retry: false, mayBeDone: false },
  TooManyRequests: { retry: true, mayBeDone: false },
  /** The server itself says that it failed; etcd may have the write. */
  ServerError: { retry: true, mayBeDone: true },
  /** An answer that nobody can read: not JSON, no Kubernetes object. */
  BadAnswer: { retry: true, mayBeDone: true },
  /** An answer larger than allowed: it would be as large the next time. */
  TooLarge: { retry: false, mayBeDone: true },
  /** Certainly not handled: never sent, or refused by the transport before any work on it. */
  Unreachable: { retry: true, mayBeDone: false },
  /** Never sent, because the caller's own time was over. */
  OutOfTime: { retry: true, mayBeDone: false },
  /** Sent, and no answer came: timeout, lost connection, caller gave up. */
  Unknown: { retry: true, mayBeDone: true },
} as const satisfies Record<string, { retry: boolean; mayBeDone: boolean }>;

export type FailureKind = keyof typeof FAILURES;

export interface Failure {
  readonly ok: false;
  readonly because: FailureKind;
  readonly message: string;
  /** When the server asked to be left alone for a while. */
  readonly retryAfterMs?: number;
  /** Nothing can be created there: the namespace of the object is being deleted, or does not exist. */
  readonly isNamespaceGone?: true;
}

export type Outcome<T> = { readonly ok: true; readonly object: T } | Failure;

export function failure(because: FailureKind, message: string): Failure {
  return { ok: false, because, message };
}
