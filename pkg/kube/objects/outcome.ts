import type { ApiResponse, Lost } from '#pkg/kube/transport/exchange.ts';
import { isMap } from './kube-object.ts';

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
  /** Never sent: the caller's own time was over, or this process had too many requests under way. */
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

/** After one of these the server that answers next may be on another store. A server that says 410 may be a new one, too. */
export function isBreak({ because }: Pick<Failure, 'because'>): boolean {
  return ['Unknown', 'Unreachable', 'ServerError', 'Expired'].includes(because);
}

export function failure(because: FailureKind, message: string): Failure {
  return { ok: false, because, message };
}

/** The outcome of a request: the JSON of a good answer (its text with `isText`), or why there is none. */
export function interpret(result: ApiResponse | Lost, target: Target, isText = false): Outcome<unknown> {
  if ('wasSent' in result) return failure(kindOfLost(result), result.message);
  const { body } = result;
  if (typeof body !== 'string') {
    return body.isTooLarge
      ? failure('TooLarge', 'the answer is larger than allowed')
      : failure('BadAnswer', 'the answer is not what its encoding says');
  }
  const isGood = result.status >= 200 && result.status <= 299;
  if (isGood && isText) return { ok: true, object: body };
  const parsed = parseJson(body);
  if (!isGood) return refusalOf(result, parsed, target);
  return parsed === undefined
    ? failure('BadAnswer', `the answer is not JSON: ${JSON.stringify(body.slice(0, 80))}`)
    : { ok: true, object: parsed };
}

function kindOfLost({ wasSent, isOutOfTime }: Lost): FailureKind {
  if (wasSent) return 'Unknown';
  return isOutOfTime ? 'OutOfTime' : 'Unreachable';
}

function refusalOf(answer: ApiResponse, parsed: unknown, target: Target): Failure {
  const refusal = readFailure(answer.status, parsed, target);
  const retryAfterMs = readSeconds(answer.retryAfter);
  return retryAfterMs === null ? refusal : { ...refusal, retryAfterMs };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object of a request, in the spelling of `details` in a Status 404. */
export interface Target {
  readonly plural: string;
  readonly name?: string;
}

interface Status {
  readonly reason: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const LONGEST_MESSAGE = 1_000;
const LONGEST_PAUSE_MS = 60_000;

const BY_REASON: Readonly<Record<string, FailureKind>> = {
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Expired: 'Expired',
  Gone: 'Expired',
  Invalid: 'Invalid',
  Forbidden: 'Forbidden',
  Unauthorized: 'Unauthorized',
  TooManyRequests: 'TooManyRequests',
};

/** The reason decides, and the code only if there is no reason. A 409 without a reason could be either conflict, so it decides nothing. */
export function readFailure(code: number, body: unknown, target: Target): Failure {
  const status = readStatus(body);
  const message = (status?.message || `HTTP ${code}`).slice(0, LONGEST_MESSAGE);
  const retryAfterMs = readSeconds(status?.details['retryAfterSeconds']);
  return {
    ...failure(kindOfStatus(code, status, target), message),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(status !== null && isNamespaceGone(status, target) ? { isNamespaceGone: true } : {}),
  };
}

function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1_000, LONGEST_PAUSE_MS) : null;
}

function kindOfStatus(code: number, status: Status | null, target: Target): FailureKind {
  if (status !== null && isFromTheFuture(status)) return 'Expired';
  if (status !== null && Object.hasOwn(BY_REASON, status.reason)) return BY_REASON[status.reason] ?? 'BadAnswer';
  if (code === 404) return status?.reason === 'NotFound' && names(status, target) ? 'NotFound' : 'NotServed';
  if (code === 401) return 'Unauthorized';
  if (code === 403) return 'Forbidden';
  if (code === 410) return 'Expired';
  if (code === 429) return 'TooManyRequests';
  if (code >= 500) return 'ServerError';
  return code >= 400 && code !== 409 ? 'Invalid' : 'BadAnswer';
}

function names({ details }: Status, { plural, name }: Target): boolean {
  return name !== undefined && details['name'] === name && details['kind'] === plural;
}

/** etcd was restored, or the server lags behind: it has not reached the resourceVersion of the request. */
function isFromTheFuture(status: Status): boolean {
  return hasCause(status, 'ResourceVersionTooLarge');
}

function isNamespaceGone(status: Status, { plural }: Target): boolean {
  const { reason, details } = status;
  if (reason === 'Forbidden') return hasCause(status, 'NamespaceTerminating');
  return reason === 'NotFound' && details['kind'] === 'namespaces' && plural !== 'namespaces';
}

function hasCause({ details: { causes } }: Status, reason: string): boolean {
  return Array.isArray(causes) && causes.some((cause) => isMap(cause) && cause['reason'] === reason);
}

function readStatus(body: unknown): Status | null {
  if (!isMap(body) || body['kind'] !== 'Status') return null;
  const { reason, message, details } = body;
  return {
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : '',
    details: isMap(details) ? details : {},
  };
}
