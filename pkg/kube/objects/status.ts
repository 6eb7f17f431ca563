import { isMap } from './kube-object.ts';
import { type Failure, type FailureKind, failure } from './outcome.ts';

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
    ...failure(kindOf(code, status, target), message),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(status !== null && isNamespaceGone(status, target) ? { isNamespaceGone: true } : {}),
  };
}

export function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1_000, LONGEST_PAUSE_MS) : null;
}

function kindOf(code: number, status: Status | null, target: Target): FailureKind {
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
