import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { FAILURES, type Failure, type FailureKind } from './outcome.ts';

const REFUSALS: Partial<Record<FailureKind, { readonly reason: Reason; readonly because: string }>> = {
  Forbidden: {
    reason: 'bad-config',
    because: 'this account is not allowed to; is its role (deploy/rbac.yaml) in place?',
  },
  // Retryable, because kubelet replaces a token by itself.
  Unauthorized: { reason: 'api-server-unavailable', because: 'the API server does not accept the credentials' },
  TooLarge: {
    reason: 'bad-config',
    because:
      'the answer is larger than is read at once (64 MiB, all pages of a list 512 MiB); are there that many objects, or does something else answer for the API server?',
  },
  Invalid: { reason: 'internal', because: 'the API server refused it as invalid' },
};

/** The refusal of a webhook has the same code as a missing right. Only the message differs. */
const WEBHOOK = { reason: 'bad-config', because: 'an admission webhook of the cluster refused it' } as const;

/** `doing` completes "cannot …". `notServed` says what to check if the kind is not served. */
export function toApiError(doing: string, failure: Failure, notServed: string): IpamError {
  const { because, message } = failure;
  const refusal = refusalOf(failure, notServed);
  if (refusal !== undefined) {
    const details = `the API server says: ${message}`;
    return new IpamError(refusal.reason, `cannot ${doing}: ${refusal.because}`, { details });
  }
  return new IpamError(reasonOf(because), `cannot ${doing}: ${message}`);
}

function reasonOf(because: FailureKind): Reason {
  if (because === 'OutOfTime') return 'out-of-time';
  return FAILURES[because].retry ? 'api-server-unavailable' : 'internal';
}

function refusalOf({ because, message }: Failure, notServed: string) {
  if (because === 'NotServed') return { reason: 'bad-config', because: notServed } as const;
  return because === 'Forbidden' && message.startsWith('admission webhook ') ? WEBHOOK : REFUSALS[because];
}
