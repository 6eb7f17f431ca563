import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Classes of field errors as the API machinery names them. */
const CAUSES = {
  Invalid: 'FieldValueInvalid',
  Forbidden: 'FieldValueForbidden',
} as const;

interface FieldError {
  readonly type: keyof typeof CAUSES;
  /** E.g. `spec.ips`. */
  readonly field: string;
  readonly message: string;
}

export interface JsonPatchStep {
  readonly op: 'add';
  readonly path: string;
  readonly value: unknown;
}

export type AdmissionVerdict =
  | { readonly allowed: true; readonly patch?: readonly JsonPatchStep[] }
  /** 422: the object cannot be so. */
  | { readonly allowed: false; readonly invalid: FieldError }
  /** 403: not now, whatever the object. */
  | { readonly allowed: false; readonly forbidden: string };

export const ALLOWED: AdmissionVerdict = { allowed: true };

export function invalid(field: string, message: string): AdmissionVerdict {
  return { allowed: false, invalid: { type: 'Invalid', field, message } };
}

export function forbiddenField(field: string, message: string): AdmissionVerdict {
  return { allowed: false, invalid: { type: 'Forbidden', field, message } };
}

export function forbidden(message: string): AdmissionVerdict {
  return { allowed: false, forbidden: message };
}

/** What a decoder said, `path: message`, as the field error it is; null for anything that is a fault of ours. */
export function toFieldError(thrown: unknown): AdmissionVerdict | null {
  if (!(thrown instanceof IpamError) || thrown.reason !== 'bad-input') return null;
  const colon = thrown.message.indexOf(': ');
  return colon === -1
    ? invalid('spec', thrown.message)
    : invalid(thrown.message.slice(0, colon), thrown.message.slice(colon + 2));
}

interface Subject {
  readonly kind: string;
  readonly name: string;
}

const GROUP = 'spiderpool.spidernet.io';
/** The API server drops an answer that is too long. */
const LONGEST_MESSAGE = 4_096;

/** The `response` of an AdmissionReview. */
export function toResponse(uid: string, verdict: AdmissionVerdict, { kind, name }: Subject): object {
  if (verdict.allowed) {
    const { patch = [] } = verdict;
    if (patch.length === 0) return { uid, allowed: true };
    const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
    return { uid, allowed: true, patchType: 'JSONPatch', patch: encoded };
  }
  const details = { group: GROUP, kind, name };
  if ('forbidden' in verdict) {
    const message = `${kind.toLowerCase()}s.${GROUP} "${name}" is forbidden: ${verdict.forbidden}`;
    return { uid, allowed: false, status: status(403, 'Forbidden', message, details) };
  }
  const { type, field, message } = verdict.invalid;
  const causes = [{ reason: CAUSES[type], field, message }];
  const text = `${kind}.${GROUP} "${name}" is invalid: ${field}: ${type}: ${message}`;
  return { uid, allowed: false, status: status(422, 'Invalid', text, { ...details, causes }) };
}

function status(code: number, reason: string, message: string, details: object): object {
  return { status: 'Failure', code, reason, message: message.slice(0, LONGEST_MESSAGE), details };
}
