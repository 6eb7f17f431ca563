import type { IpamError } from '#pkg/errors/ipam-error.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';

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
