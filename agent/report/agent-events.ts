import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import type { EmittedEvent, Regarded } from '#pkg/kube/events/events.ts';
import type { Holder } from '#pkg/record/ip-record.ts';

/** The failures of an ADD that the owner of the pod or pool can fix. */
export const FAILED_ADD_EVENTS = {
  'pools-exhausted': 'IPPoolExhausted',
  'no-eligible-pool': 'NoEligibleIPPool',
  'unknown-pool': 'UnknownIPPool',
  'address-refused': 'IPAddressRefused',
  'address-held': 'IPAddressHeld',
  'sticky-address-conflict': 'StickyIPAddressConflict',
  'gateway-unreachable': 'GatewayUnreachable',
  'address-conflict': 'IPAddressConflict',
  'bad-annotation': 'InvalidIPAMAnnotation',
} as const satisfies Partial<Record<Reason, string>>;

/** A foreign host answers on an address of a pool. Emitted on the pool, and on the pod that asked for an address. */
const CONFLICT_EVENT = 'IPAddressConflict';

/** Null for reasons without an Event, and when there is no pod. */
export function failedAddEvent(args: AddArgs, { reason, message, details }: IpamError): EmittedEvent | null {
  if (args.podName === '' || args.podNamespace === '' || !isTold(reason)) return null;
  const note = details === '' ? message : `${message}\n${details}`;
  return { regarding: podOf(args), type: 'Warning', reason: FAILED_ADD_EVENTS[reason], note };
}

/** The holder of a VMI's address is the VMI, but the Event must be on its launcher pod. */
export function podBehind(
  { namespace, name, uid = '' }: Pick<Holder, 'namespace' | 'name' | 'uid'>,
  pods: { known(uid: string): { readonly name: string } | null },
): Pick<AddArgs, 'podNamespace' | 'podName' | 'podUID'> {
  return { podNamespace: namespace, podName: pods.known(uid)?.name ?? name, podUID: uid };
}

export function conflictEvents(
  pod: Pick<AddArgs, 'podNamespace' | 'podName' | 'podUID'>,
  pool: { readonly name: string; readonly uid: string },
  found: { readonly address: string; readonly mac: string },
): EmittedEvent[] {
  const note = `${found.address} of pool ${pool.name} is used by a foreign host with MAC ${found.mac}`;
  const poolItself = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool', namespace: '', ...pool };
  const regarded: Regarded[] = pod.podName === '' ? [poolItself] : [podOf(pod), poolItself];
  return regarded.map((regarding) => ({ regarding, type: 'Warning', reason: CONFLICT_EVENT, note }));
}

function podOf(pod: Pick<AddArgs, 'podNamespace' | 'podName' | 'podUID'>): Regarded {
  return { apiVersion: 'v1', kind: 'Pod', namespace: pod.podNamespace, name: pod.podName, uid: pod.podUID };
}

function isTold(reason: Reason): reason is keyof typeof FAILED_ADD_EVENTS {
  return Object.hasOwn(FAILED_ADD_EVENTS, reason);
}
