import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import { FAILURES, type Failure, type FailureKind } from '#pkg/kube/outcome.ts';
import { abandonedWrite } from './abandoned-write.ts';

const REFUSALS: Partial<Record<FailureKind, { readonly reason: Reason; readonly because: string }>> = {
  Forbidden: {
    reason: 'bad-config',
    because: 'this account is not allowed to; is its role (deploy/rbac.yaml) in place?',
  },
  // Kubelet replaces a token by itself.
  Unauthorized: { reason: 'agent-unavailable', because: 'the API server does not accept the credentials' },
  NotServed: {
    reason: 'bad-config',
    because: 'the API server does not serve the kind IPRecord; are its CRDs (deploy/crds) installed?',
  },
  Invalid: { reason: 'internal', because: 'the API server refused it as invalid' },
};

/** `doing` completes "cannot …". */
export function toLedgerError(doing: string, { because, message }: Failure): IpamError {
  const refusal = REFUSALS[because];
  if (refusal !== undefined) {
    const details = `the API server says: ${message}`;
    return new IpamError(refusal.reason, `cannot ${doing}: ${refusal.because}`, { details });
  }
  const reason = FAILURES[because].retry ? 'agent-unavailable' : 'internal';
  return new IpamError(reason, `cannot ${doing}: ${message}`);
}

/** A refusal is certain: nothing was written, unless a try before it went unanswered. */
export function toWriteError(verb: string, name: string, failure: Failure & { mayStillLand: boolean }): IpamError {
  return failure.mayStillLand
    ? abandonedWrite(verb, name, failure.message)
    : toLedgerError(`${verb} the record ${name}`, failure);
}
