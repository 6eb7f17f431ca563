import { createHash } from 'node:crypto';
import type { Attachment } from '#agent/calls/call.ts';
import { asBoolean, asObject, asOneOf, asString, ifPresent } from '#pkg/decode/untrusted.ts';
import { decodeRecord } from '#pkg/record/decode-record.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** `free`: the record is deleted. `rest`: it becomes Cooling where the pool has a cooldown. `retain`: it becomes Retained. */
const FATES = ['free', 'rest', 'retain'] as const;
export type Fate = (typeof FATES)[number];

/** A release that the API server did not answer or refused. It applies to exactly this version of the record. */
export interface JournalledRelease {
  readonly kind: 'release';
  readonly record: IpRecord;
  readonly fate: Fate;
  readonly at: string;
}

/** Rule 5: a write without an answer, which may still arrive at the API server. */
export interface AbandonedName {
  readonly kind: 'abandoned';
  readonly name: string;
  /** The uid of the holder in the write. */
  readonly uid: string;
  readonly containerID: string;
  readonly interface: string;
  /** The write was an update of a held record. The record stays, whether the update arrived or not. */
  readonly isChange: boolean;
  /** The uid of the record that an ADD was answered with since. A record of this name with another uid is a leftover. */
  readonly spared?: string;
  readonly at: string;
}

export type JournalEntry = JournalledRelease | AbandonedName;

const LONGEST = 512;

/** Equal entries have the same file name. */
export function entryFileName(entry: JournalEntry): string {
  if (entry.kind === 'release') return releaseFileName(entry.record);
  // An abandoned update must not replace the entry of an abandoned create of the same name.
  const change = entry.isChange ? ['change'] : [];
  return fileName(entry.kind, [entry.name, entry.uid, entry.containerID, entry.interface, ...change]);
}

export function releaseFileName({ name, uid, resourceVersion }: IpRecord): string {
  return fileName('release', [name, uid, resourceVersion]);
}

function fileName(kind: JournalEntry['kind'], parts: readonly string[]): string {
  const hash = createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32);
  return `${kind}-${hash}.json`;
}

export function attachmentOf(entry: JournalEntry): Attachment {
  if (entry.kind === 'abandoned') return { containerID: entry.containerID, ifName: entry.interface };
  const { containerID = '', interface: ifName } = entry.record.spec.holder;
  return { containerID, ifName };
}

export function uidOf(entry: JournalEntry): string {
  return entry.kind === 'abandoned' ? entry.uid : (entry.record.spec.holder.uid ?? '');
}

export function recordNameOf(entry: JournalEntry): string {
  return entry.kind === 'release' ? entry.record.name : entry.name;
}

/** Whether an abandoned create made the record later, and no ADD was answered with it. */
export function isLeftBehind({ name, uid, spec }: IpRecord, entry: JournalEntry): boolean {
  const { holder } = spec;
  return (
    entry.kind === 'abandoned' &&
    entry.name === name &&
    !entry.isChange &&
    entry.spared !== uid &&
    spec.state === 'Allocated' &&
    holder.uid === entry.uid &&
    holder.containerID === entry.containerID &&
    holder.interface === entry.interface
  );
}

export function decodeEntry(value: unknown): JournalEntry {
  const fields = asObject(value, 'the entry');
  const at = asString(fields['at'], 'at', LONGEST);
  if (asOneOf(fields['kind'], 'kind', ['release', 'abandoned']) === 'release') {
    const fate = asOneOf(fields['fate'], 'fate', FATES);
    return { kind: 'release', record: decodeRecord(fields['record']), fate, at };
  }
  const spared = ifPresent(fields['spared'], (uid) => asString(uid, 'spared', LONGEST));
  return {
    kind: 'abandoned',
    name: asString(fields['name'], 'name', LONGEST),
    uid: asString(fields['uid'], 'uid', LONGEST),
    containerID: asString(fields['containerID'], 'containerID', LONGEST),
    interface: asString(fields['interface'], 'interface', LONGEST),
    isChange: asBoolean(fields['isChange'], 'isChange'),
    ...(spared === undefined ? {} : { spared }),
    at,
  };
}
