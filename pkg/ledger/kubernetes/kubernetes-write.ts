import { isDeepStrictEqual } from 'node:util';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import {
  createDefinite,
  type DefiniteOptions,
  deleteDefinite,
  updateDefinite,
} from '#pkg/kube/write/definite-write.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { CreateLimits, CreateOutcome, Refusal, ReleaseOutcome, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import { isSameNic } from '#pkg/record/holder.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { toWriteError } from './kubernetes-failure.ts';
import { IP_RECORDS, isTerminating, toNewObject, toRecord, toSeenObject, tryRecord } from './kubernetes-record.ts';

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
  return found.spec.state === spec.state && isSameNic(found.spec.holder, spec.holder);
}

/** Older API servers call it a conflict too when the uid of an update is gone, and to be marked is a change: a look tells. */
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
