import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import type { EmittedEvent, Regarded } from '#pkg/kube/events/events.ts';
import { describeOutliving } from '#pkg/record/describe-outliving.ts';
import { describeHolder, type Holder, type IpRecord } from '#pkg/record/ip-record.ts';

type PodOfEvent = Pick<AddArgs, 'podNamespace' | 'podName' | 'podUID'>;

/** The failures of an ADD that the owner of the pod or pool can fix. */
export const FAILED_ADD_EVENTS = {
  'pools-exhausted': 'IPPoolExhausted',
  'auto-pool-missing': 'AutoIPPoolMissing',
  'no-eligible-pool': 'NoEligibleIPPool',
  'unknown-pool': 'UnknownIPPool',
  'address-refused': 'IPAddressRefused',
  'address-held': 'IPAddressHeld',
  'sticky-address-conflict': 'StickyIPAddressConflict',
  'gateway-unreachable': 'GatewayUnreachable',
  'address-conflict': 'IPAddressConflict',
  'bad-annotation': 'InvalidIPAMAnnotation',
} as const satisfies Partial<Record<Reason, string>>;

/** Their messages count addresses and seconds: with another number it is the same Event, or each pod of a crowd would write one at every try. */
const COUNTING: readonly Reason[] = ['pools-exhausted', 'auto-pool-missing'];

/** A foreign host answers on an address of a pool. Emitted on the pool, and on the pod that asked for an address. */
const CONFLICT_EVENT = 'IPAddressConflict';

/** A network namespace is still there long after its pod has ended. */
const OUTLIVING_EVENT = 'SandboxOutlivesPod';

/** What a pod says about its owner, or about a migration, and is not so (rule 10). */
const REFUSED_OWNER_EVENT = 'OwnerNotVerified';

export function refusedOwnerEvent(
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
  note: string,
): EmittedEvent {
  const regarding = podOf({ podNamespace: namespace, podName: name, podUID: uid });
  return { regarding, type: 'Warning', reason: REFUSED_OWNER_EVENT, note };
}

/** Null for reasons without an Event, and when there is no pod. */
export function failedAddEvent(args: AddArgs, { reason, message, details }: IpamError): EmittedEvent | null {
  if (args.podName === '' || args.podNamespace === '' || !isTold(reason)) return null;
  const note = details === '' ? message : `${message}\n${details}`;
  const event = { regarding: podOf(args), type: 'Warning', reason: FAILED_ADD_EVENTS[reason], note } as const;
  return COUNTING.includes(reason) ? { ...event, sameAs: note.replace(/\d+/g, '') } : event;
}

/** The holder of a VMI's address is the VMI, but the Event must be on its launcher pod. */
export function podBehind(
  { namespace, name, uid = '' }: Pick<Holder, 'namespace' | 'name' | 'uid'>,
  pods: { known(uid: string): { readonly name: string } | null },
): PodOfEvent {
  return { podNamespace: namespace, podName: pods.known(uid)?.name ?? name, podUID: uid };
}

export function conflictEvents(
  pod: PodOfEvent,
  pool: { readonly name: string; readonly uid: string },
  found: { readonly address: string; readonly mac: string },
): EmittedEvent[] {
  const note = `${found.address} of pool ${pool.name} is used by a foreign host with MAC ${found.mac}`;
  const regarded: Regarded[] = pod.podName === '' ? [poolItself(pool)] : [podOf(pod), poolItself(pool)];
  return regarded.map((regarding) => ({ regarding, type: 'Warning', reason: CONFLICT_EVENT, note }));
}

/** A sandbox outlives its pod: an Event on the pod, as long as its name is known, and one on the record. */
export function outlivingEvents(record: IpRecord, pod: PodOfEvent): EmittedEvent[] {
  const { name, uid, spec } = record;
  const note = `${spec.address} is held by a sandbox ${describeOutliving(record)}`;
  const recordItself = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', namespace: '', name, uid };
  return [podOf(pod), recordItself].map((regarding) => ({ regarding, type: 'Warning', reason: OUTLIVING_EVENT, note }));
}

/** A record of a live sandbox was missing, and the agent wrote it again (rule 9). */
export function restoredEvent(pod: PodOfEvent, { spec }: IpRecord): EmittedEvent {
  const note = `the record of ${spec.address} was missing although the pod uses it; it was created again`;
  return { regarding: podOf(pod), type: 'Warning', reason: 'IPRecordRestored', note };
}

/** Two live pods on one address: for both of them, and for the pool. */
export function lostAddressEvents(pod: PodOfEvent, lost: IpRecord, now: IpRecord): EmittedEvent[] {
  const { holder, pool, address } = lost.spec;
  const note = `${address} is in use twice: by ${describeHolder(lost)} on node ${holder.node}, whose record was lost, and by ${describeHolder(now)} on node ${now.spec.holder.node}, which has the record now; delete the first pod, or both`;
  const { namespace, name, uid = '' } = now.spec.holder;
  const other = podOf({ podNamespace: namespace, podName: name, podUID: uid });
  return [podOf(pod), other, poolItself(pool)].map((regarding) => ({
    regarding,
    type: 'Warning',
    reason: 'IPAddressInUseTwice',
    note,
  }));
}

function podOf(pod: PodOfEvent): Regarded {
  return { apiVersion: 'v1', kind: 'Pod', namespace: pod.podNamespace, name: pod.podName, uid: pod.podUID };
}

function poolItself({ name, uid }: { readonly name: string; readonly uid: string }): Regarded {
  return { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool', namespace: '', name, uid };
}

function isTold(reason: Reason): reason is keyof typeof FAILED_ADD_EVENTS {
  return Object.hasOwn(FAILED_ADD_EVENTS, reason);
}
