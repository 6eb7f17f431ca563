/**
 * Every way a request can end without its object. `retry`: the same request may succeed later without any other change.
 * `mayBeDone`: a write that ended like this may have been done, or may still be done.
 */
export const FAILURES = {
  AlreadyExists: { retry: false, mayBeDone: false },
  /** The object is not the one that was seen: it has another uid or resourceVersion. */
  Conflict: { retry: false, mayBeDone: false },
  /** The API server names this object as missing. Only this proves that it is gone. */
  NotFound: { retry: false, mayBeDone: false },
  /** Any other 404: the kind or the namespace does not exist. This proves nothing about the object. */
  NotServed: { retry: false, mayBeDone: false },
  /** The server does not have the resourceVersion or continue token any more (or not yet). A new list is needed. */
  Expired: { retry: false, mayBeDone: false },
  Invalid: { retry: false, mayBeDone: false },
  Forbidden: { retry: false, mayBeDone: false },
  Unauthorized: { retry: false, mayBeDone: false },
  TooManyRequests: { retry: true, mayBeDone: false },
  /** The server reports an error of its own; etcd may have the write. */
  ServerError: { retry: true, mayBeDone: true },
  /** The answer cannot be read: it is not JSON, or not a Kubernetes object. */
  BadAnswer: { retry: true, mayBeDone: true },
  /** The answer is larger than allowed, and would be as large the next time. */
  TooLarge: { retry: false, mayBeDone: true },
  /** The server certainly did not handle it: it was never sent, or the connection refused it before any work on it. */
  Unreachable: { retry: true, mayBeDone: false },
  /** Never sent, because the caller's own time was over. */
  OutOfTime: { retry: true, mayBeDone: false },
  /** It was sent, and no answer came: a timeout, a lost connection, or the caller gave up. */
  Unknown: { retry: true, mayBeDone: true },
} as const satisfies Record<string, { retry: boolean; mayBeDone: boolean }>;

export type FailureKind = keyof typeof FAILURES;

export interface Failure {
  readonly ok: false;
  readonly because: FailureKind;
  readonly message: string;
  /** How long the server asked to wait. */
  readonly retryAfterMs?: number;
  /** Nothing can be created there: the namespace of the object is being deleted, or does not exist. */
  readonly isNamespaceGone?: true;
}

export type Outcome<T> = { readonly ok: true; readonly object: T } | Failure;

export function failure(because: FailureKind, message: string): Failure {
  return { ok: false, because, message };
}
