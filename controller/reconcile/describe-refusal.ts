import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { FailureKind } from '#pkg/kube/objects/outcome.ts';
import { FailedRequest } from './reconciler.ts';

/**
 * What somebody has to mend: a right, a quota, an admission policy, a webhook, a name that another object has. All else passes, or would
 * be refused here too.
 */
const REFUSALS: readonly FailureKind[] = ['Forbidden', 'Invalid', 'ServerError', 'NotServed', 'AlreadyExists'];

/** What the API server says against a write, for the owner of the object; null for a failure that passes by itself. */
export function describeRefusal(thrown: unknown): string | null {
  if (thrown instanceof FailedRequest) return REFUSALS.includes(thrown.failure.because) ? thrown.message : null;
  if (!(thrown instanceof IpamError)) return null;
  const { reason, message, details } = thrown;
  // An object that the API server calls invalid is a fault of ours, or of a policy that nobody here knows: only its details tell.
  if (reason !== 'bad-config' && (reason !== 'internal' || details === '')) return null;
  return details === '' ? message : `${message}; ${details}`;
}
