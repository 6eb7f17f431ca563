import { randomBytes } from 'node:crypto';
import type { NewObject } from '#pkg/kube/objects/kube-object.ts';
import type { EmittedEvent } from './events.ts';

const MOST_NOTE_BYTES = 1024;
const MOST_TEXT = 128;
const LONGEST_NAME = 253 - 17;
/** The namespace for Events about cluster scoped objects. */
const OF_CLUSTER_SCOPED = 'default';

/** The program that reports, and its pod. */
export interface Reporter {
  readonly reporter: 'agent' | 'controller';
  readonly instance: string;
}

/** An object of events.k8s.io/v1, within the bounds that the API server sets. */
export function toEventObject(event: EmittedEvent, by: Reporter, at: Date): NewObject {
  const { regarding, type, reason, note } = event;
  const namespace = regarding.namespace || OF_CLUSTER_SCOPED;
  const { apiVersion, kind, name, uid } = regarding;
  return {
    metadata: { name: `${name.slice(0, LONGEST_NAME)}.${randomBytes(8).toString('hex')}`, namespace },
    eventTime: at.toISOString().replace('Z', '000Z'),
    reportingController: `ipledger.io/${by.reporter}`,
    reportingInstance: by.instance.slice(0, MOST_TEXT),
    action: by.reporter === 'agent' ? 'Allocate' : 'Reconcile',
    reason: reason.slice(0, MOST_TEXT),
    regarding: {
      apiVersion,
      kind,
      name,
      ...(regarding.namespace === '' ? {} : { namespace }),
      ...(uid === '' ? {} : { uid }),
    },
    note: cutNote(note),
    type,
  };
}

/** Cuts by bytes, never in the middle of a character. */
export function cutNote(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= MOST_NOTE_BYTES) return note;
  const room = MOST_NOTE_BYTES - Buffer.byteLength('…');
  return `${new TextDecoder().decode(bytes.subarray(0, room), { stream: true })}…`;
}
