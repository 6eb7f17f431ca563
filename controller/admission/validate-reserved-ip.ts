import { decodeReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { changesNothing, type Families, isBeingDeleted, judgeFamily, judgeFixed } from './judge-change.ts';
import type { AdmissionRequest } from './review.ts';
import { type AdmissionVerdict, ALLOWED, forbidden } from './verdict.ts';

/** Throws what the decoder refuses. Reserving an address that is in use does not take it from its holder. */
export function validateReservedIp({ object, oldObject }: AdmissionRequest, families: Families): AdmissionVerdict {
  if (object === null) return ALLOWED;
  if (oldObject !== null) {
    if (changesNothing(oldObject, object)) return ALLOWED;
    if (isBeingDeleted(oldObject)) return forbidden('cannot update a terminating ReservedIP');
    const fixed = judgeFixed(oldObject, object);
    if (fixed !== null) return fixed;
  }
  return judgeFamily(decodeReservedIp(object).family, families) ?? ALLOWED;
}
