import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** The part of an `admission.k8s.io/v1` AdmissionReview that is read here, with its types checked. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly name: string;
  readonly isDryRun: boolean;
  /** Null for a DELETE. */
  readonly object: ReviewFields | null;
  /** Null for a CREATE. */
  readonly oldObject: ReviewFields | null;
}

export type ReviewFields = Readonly<Record<string, unknown>>;

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE'] as const;
const LONGEST_UID = 128;
const LONGEST_NAME = 253;

/** Throws a plain Error for what no API server sends. */
export function readReview(value: unknown): AdmissionRequest {
  const request = isMap(value) && isMap(value['request']) ? value['request'] : fail('it has no request');
  const { uid, operation, name = '', dryRun } = request;
  if (typeof uid !== 'string' || uid === '' || uid.length > LONGEST_UID) fail('its request has no uid');
  if (typeof name !== 'string' || name.length > LONGEST_NAME) fail('the name in its request is not one');
  return {
    uid,
    name,
    operation: OPERATIONS.find((known) => known === operation) ?? fail('its operation is none that is asked for'),
    isDryRun: dryRun === true,
    object: readObject(request['object'], 'object'),
    oldObject: readObject(request['oldObject'], 'oldObject'),
  };
}

function readObject(value: unknown, field: string): ReviewFields | null {
  if (value === undefined || value === null) return null;
  return isMap(value) ? value : fail(`its ${field} is none`);
}

function fail(because: string): never {
  throw new Error(`not an AdmissionReview: ${because}`);
}
