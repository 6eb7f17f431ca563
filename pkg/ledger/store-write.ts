import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parseAddress } from '#pkg/ip/address.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { CreateOutcome, Refusal, ReleaseOutcome, UpdateOutcome } from './ledger.ts';
import type { RecordStore } from './record-store.ts';

export function storeCreate(store: RecordStore, spec: RecordSpec, now: Date): CreateOutcome {
  const name = recordName(parseAddress(spec.address), spec.domain);
  const present = store.get(name);
  if (present !== null) return { taken: false, record: present };
  const record = { name, uid: randomUUID(), resourceVersion: store.nextVersion(), createdAt: now.toISOString(), spec };
  store.insert(record);
  return { taken: true, record };
}

export function storeUpdate(store: RecordStore, seen: IpRecord, spec: RecordSpec): UpdateOutcome {
  const present = store.get(seen.name);
  const because = refusalOf(present, seen);
  if (present === null || because !== null) return { done: false, because: because ?? 'gone' };
  if (isDeepStrictEqual(present.spec, spec)) return { done: true, record: present };
  const record = { ...present, spec, resourceVersion: store.nextVersion() };
  store.update(record);
  return { done: true, record };
}

export function storeRelease(store: RecordStore, seen: IpRecord): ReleaseOutcome {
  const because = refusalOf(store.get(seen.name), seen);
  if (because !== null) return { done: false, because };
  store.delete(seen.name);
  return { done: true };
}

function refusalOf(present: IpRecord | null, seen: IpRecord): Refusal | null {
  if (present === null) return 'gone';
  return present.uid === seen.uid && present.resourceVersion === seen.resourceVersion ? null : 'changed';
}
