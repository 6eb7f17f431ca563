import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { isMap, type KubeObject, type NewObject, type SeenObject } from '#pkg/kube/objects/kube-object.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';
import { decodeRecordSpec } from '#pkg/record/decode-record.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordLabels, recordName } from '#pkg/record/record-metadata.ts';

export const IP_RECORDS: Resource = {
  group: 'ipledger.io',
  version: 'v1alpha1',
  plural: 'iprecords',
  kind: 'IPRecord',
};

export function toNewObject(spec: RecordSpec): NewObject {
  return { metadata: { name: nameOf(spec), labels: recordLabels(spec) }, spec };
}

/** What others put into the metadata of a record is not kept: it is ours alone. */
export function toSeenObject({ name, uid, resourceVersion }: IpRecord, spec: RecordSpec): SeenObject {
  return { metadata: { name, uid, resourceVersion, labels: recordLabels(spec) }, spec };
}

/** Believes nothing: the name must be that of the address, whoever answers. */
export function toRecord({ metadata, spec: value }: KubeObject): IpRecord {
  const { name, uid, resourceVersion, creationTimestamp } = metadata;
  const spec = decodeSpec(name, value);
  if (nameOf(spec) !== name) throw unreadable(name, `its address is ${spec.address} in domain ${spec.domain}`);
  if (creationTimestamp === undefined) throw unreadable(name, 'it has no creationTimestamp');
  return { name, uid, resourceVersion, createdAt: creationTimestamp, spec };
}

/**
 * Marked as deleted and still there, because of a finalizer. Its address is not free, and nobody holds it either: the next
 * write that drops the finalizer makes it vanish, whatever else it says.
 */
export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Null where nobody may act on it: it cannot be read, or it is on its way out. */
export function tryRecord(object: KubeObject): IpRecord | null {
  try {
    return isTerminating(object) ? null : toRecord(object);
  } catch {
    return null;
  }
}

/** Whether it says so itself, of an object that perhaps cannot be read; one that says nothing might be anybody's. */
export function mayBeOfHolder({ spec }: KubeObject, key: string): boolean {
  if (!isMap(spec) || !isMap(spec['holder'])) return true;
  const { kind, namespace, name, interface: nic } = spec['holder'];
  return [kind, namespace, name, nic, String(spec['address']).includes(':') ? 6 : 4].join('/') === key;
}

export function mayBeOfNode({ spec }: KubeObject, node: string): boolean {
  return !isMap(spec) || !isMap(spec['holder']) || spec['holder']['node'] === node;
}

function nameOf(spec: RecordSpec): string {
  return recordName(parseAddress(spec.address), spec.domain);
}

function decodeSpec(name: string, value: unknown): RecordSpec {
  try {
    return decodeRecordSpec(value);
  } catch (thrown) {
    throw unreadable(name, toIpamError(thrown).message, thrown);
  }
}

function unreadable(name: string, because: string, cause?: unknown): IpamError {
  return new IpamError('io-failure', `the record ${name} cannot be read: ${because}`, { cause });
}
