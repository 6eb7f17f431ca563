import { isDeepStrictEqual } from 'node:util';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import {
  isMap,
  type KubeObject,
  type NewObject,
  type Resource,
  type SeenObject,
} from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import {
  createDefinite,
  type DefiniteOptions,
  deleteDefinite,
  updateDefinite,
} from '#pkg/kube/write/definite-write.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { CreateLimits, CreateOutcome, Refusal, ReleaseOutcome, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import { decodeRecordSpec } from '#pkg/record/decode-record.ts';
import { type IpRecord, isRecordFor, type RecordSpec } from '#pkg/record/ip-record.ts';
import { recordLabels, recordName } from '#pkg/record/record-metadata.ts';
import { toWriteError } from './kubernetes-failure.ts';

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
function toSeenObject({ name, uid, resourceVersion }: IpRecord, spec: RecordSpec): SeenObject {
  return { metadata: { name, uid, resourceVersion, labels: recordLabels(spec) }, spec };
}

/** Decodes and checks: the name must be that of the address. */
export function toRecord({ metadata, spec: value }: KubeObject): IpRecord {
  const { name, uid, resourceVersion, creationTimestamp } = metadata;
  const spec = decodeSpec(name, value);
  if (nameOf(spec) !== name) throw unreadable(name, `its address is ${spec.address} in domain ${spec.domain}`);
  if (creationTimestamp === undefined) throw unreadable(name, 'it has no creationTimestamp');
  return { name, uid, resourceVersion, createdAt: creationTimestamp, spec };
}

/**
 * Marked as deleted and still there, because of a finalizer. Its address is not free, and has no holder either: the next
 * write that drops the finalizer makes it vanish, whatever else it says.
 */
export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Null for a record that must not be used: it cannot be read, or it is being deleted. */
function tryRecord(object: KubeObject): IpRecord | null {
  try {
    return isTerminating(object) ? null : toRecord(object);
  } catch {
    return null;
  }
}

/** Whether it says so itself, of an object that perhaps cannot be read; one that says nothing might be of any holder. */
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

/** Rules 1 and 5: the POST decides; one that went unanswered is repeated on the same name. */
export async function createRecord(
  client: KubeClient,
  spec: RecordSpec,
  { tellsHolder = true, ...options }: DefiniteOptions & Pick<CreateLimits, 'tellsHolder'>,
): Promise<CreateOutcome> {
  const object = toNewObject(spec);
  const { name } = object.metadata;
  const isOurs = (found: KubeObject) => isHeldFor(tryRecord(found), spec);
  const outcome = await createDefinite(client, IP_RECORDS, object, { ...options, isOurs });
  const doubt = outcome.mayStillLand ? ({ mayStillLand: true } as const) : {};
  if (outcome.ok) return { taken: true, record: toWritten('create', name, outcome.object), ...doubt };
  if (outcome.because !== 'AlreadyExists') throw toWriteError('create', name, outcome);
  if (!tellsHolder) return { taken: false, record: null, ...doubt };
  const found = await look(client, name, options);
  return { taken: false, record: found.ok ? tryRecord(found.object) : null, ...doubt };
}

/** The uid is a precondition like the resourceVersion. */
export async function updateRecord(
  client: KubeClient,
  seen: IpRecord,
  spec: RecordSpec,
  options: DefiniteOptions,
): Promise<UpdateOutcome> {
  const { name } = seen;
  const isOurs = (found: KubeObject) => {
    const record = tryRecord(found);
    return record?.uid === seen.uid && isDeepStrictEqual(record.spec, spec);
  };
  const outcome = await updateDefinite(client, IP_RECORDS, toSeenObject(seen, spec), { ...options, isOurs });
  if (outcome.ok && isTerminating(outcome.object)) return { done: false, because: 'gone' };
  if (outcome.ok) return { done: true, record: toWritten('change', name, outcome.object) };
  if (outcome.because === 'NotFound') return { done: false, because: 'gone' };
  if (outcome.because !== 'Conflict') throw toWriteError('change', name, outcome);
  return { done: false, because: await refusalOf(client, name, options) };
}

export async function releaseRecord(
  client: KubeClient,
  { name, uid, resourceVersion }: IpRecord,
  options: DefiniteOptions,
): Promise<ReleaseOutcome> {
  const outcome = await deleteDefinite(client, IP_RECORDS, { name, uid, resourceVersion }, options);
  if (outcome.ok) return outcome.object === null ? { done: true } : { done: false, because: 'changed' };
  if (outcome.because === 'NotFound') return { done: false, because: 'gone' };
  if (outcome.because === 'Conflict') return { done: false, because: 'changed' };
  throw toWriteError('release', name, outcome);
}

/** Whether what was found under the name is the record of this very holder in use, be it by this call or by one before it. */
function isHeldFor(found: IpRecord | null, spec: RecordSpec): boolean {
  if (found === null) return false;
  if (spec.holder.uid === undefined) return isDeepStrictEqual(found.spec, spec);
  return isRecordFor(found, spec);
}

/** Older API servers call it a conflict too when the uid of an update is gone, and being marked as deleted is a change: a read decides. */
async function refusalOf(client: KubeClient, name: string, options: DefiniteOptions): Promise<Refusal> {
  const found = await look(client, name, options);
  if (found.ok) return isTerminating(found.object) ? 'gone' : 'changed';
  return found.because === 'NotFound' ? 'gone' : 'changed';
}

/** One read in the time that is left. The write has been answered already, so nothing depends on it. */
function look(client: KubeClient, name: string, options: DefiniteOptions): Promise<Outcome<KubeObject>> {
  const { deadlineMs, attemptTimeoutMs = Number.POSITIVE_INFINITY, signal } = options;
  const timeoutMs = Math.max(1, Math.min(attemptTimeoutMs, deadlineMs - client.timing.nowMs()));
  return client.get(IP_RECORDS, { name }, { timeoutMs, ...(signal === undefined ? {} : { signal }) });
}

/** An answer that cannot be read says that something was written, and not what. */
function toWritten(verb: string, name: string, object: KubeObject): IpRecord {
  try {
    return toRecord(object);
  } catch (thrown) {
    throw abandonedWrite(verb, name, toIpamError(thrown).message);
  }
}
