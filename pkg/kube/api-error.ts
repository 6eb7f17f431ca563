import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { FAILURES, type Failure, type FailureKind } from './outcome.ts';

const REFUSALS: Partial<Record<FailureKind, { readonly reason: Reason; readonly because: string }>> = {
  Forbidden: {
    reason: 'bad-config',
    because: 'this account is not allowed to; is its role (deploy/rbac.yaml) in place?',
  },
  // Kubelet replaces a token by itself.
  Unauthorized: { reason: 'agent-unavailable', because: 'the API server does not accept the credentials' },
  Invalid: { reason: 'internal', because: 'the API server refused it as invalid' },
};

/** `doing` completes "cannot …"; `notServed` says what the reader should look after when the kind is missing. */
export function toApiError(doing: string, { because, message }: Failure, notServed: string): IpamError {
  const refusal = because === 'NotServed' ? { reason: 'bad-config' as const, because: notServed } : REFUSALS[because];
  if (refusal !== undefined) {
    const details = `the API server says: ${message}`;
    return new IpamError(refusal.reason, `cannot ${doing}: ${refusal.because}`, { details });
  }
  const reason = FAILURES[because].retry ? 'agent-unavailable' : 'internal';
  return new IpamError(reason, `cannot ${doing}: ${message}`);
}
