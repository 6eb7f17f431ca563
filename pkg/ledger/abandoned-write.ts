import { IpamError } from '#pkg/errors/ipam-error.ts';

interface Abandoned {
  readonly abandoned: string;
}

/** It is unknown whether it was done, or will be. */
export function abandonedWrite(verb: string, name: string, because: string): IpamError {
  const cause: Abandoned = { abandoned: name };
  const message = `gave up trying to ${verb} the record ${name}, and it may still happen: ${because}`;
  return new IpamError('outcome-unknown', message, { cause });
}

/** The record whose outcome is unknown after this error; null if nothing was left behind. */
export function abandonedName(thrown: unknown): string | null {
  return thrown instanceof IpamError && isAbandoned(thrown.cause) ? thrown.cause.abandoned : null;
}

function isAbandoned(cause: unknown): cause is Abandoned {
  return typeof cause === 'object' && cause !== null && 'abandoned' in cause && typeof cause.abandoned === 'string';
}
