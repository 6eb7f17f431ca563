import { IpamError } from '#pkg/errors/ipam-error.ts';
import { toApiError } from '#pkg/kube/api-error.ts';
import type { Failure } from '#pkg/kube/outcome.ts';

interface Abandoned {
  readonly abandoned: string;
}

const NOT_SERVED = 'the API server does not serve the kind IPRecord; are its CRDs (deploy/crds) installed?';

/** `doing` completes "cannot …". */
export function toLedgerError(doing: string, failure: Failure): IpamError {
  return toApiError(doing, failure, NOT_SERVED);
}

/** A refusal is certain: nothing was written, unless a try before it went unanswered. */
export function toWriteError(verb: string, name: string, failure: Failure & { mayStillLand: boolean }): IpamError {
  return failure.mayStillLand
    ? abandonedWrite(verb, name, failure.message)
    : toLedgerError(`${verb} the record ${name}`, failure);
}

/** Nobody knows whether it was done, or will be. */
export function abandonedWrite(verb: string, name: string, because: string): IpamError {
  const cause: Abandoned = { abandoned: name };
  const message = `gave up trying to ${verb} the record ${name}, and it may still happen: ${because}`;
  return new IpamError('agent-unavailable', message, { cause });
}

/** The record whose outcome is unknown after this error; null if nothing was left behind. */
export function abandonedName(thrown: unknown): string | null {
  return thrown instanceof IpamError && isAbandoned(thrown.cause) ? thrown.cause.abandoned : null;
}

function isAbandoned(cause: unknown): cause is Abandoned {
  return typeof cause === 'object' && cause !== null && 'abandoned' in cause && typeof cause.abandoned === 'string';
}
