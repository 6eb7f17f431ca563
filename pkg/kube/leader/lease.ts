import { isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';

export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' };

export interface LeaseSpec {
  /** Empty while it has no holder. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly leaseTransitions: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
}

/** A lease that cannot be decoded counts as one without a holder. */
export function readLeaseSpec(lease: KubeObject): LeaseSpec {
  const spec = isMap(lease['spec']) ? lease['spec'] : {};
  const { holderIdentity, leaseDurationSeconds, leaseTransitions, acquireTime, renewTime } = spec;
  return {
    holderIdentity: typeof holderIdentity === 'string' ? holderIdentity : '',
    leaseDurationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
    leaseTransitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
    ...(typeof acquireTime === 'string' ? { acquireTime } : {}),
    ...(typeof renewTime === 'string' ? { renewTime } : {}),
  };
}

/** The lease with `identity` as its holder from now on. The times are for readers only: no candidate relies on the clock of another host. */
export function heldBy(identity: string, durationMs: number, before: LeaseSpec | null, now: Date): LeaseSpec {
  const renewTime = toMicroTime(now);
  const isRenewal = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    leaseTransitions: before === null ? 0 : before.leaseTransitions + (isRenewal ? 0 : 1),
    acquireTime: isRenewal ? (before.acquireTime ?? renewTime) : renewTime,
    renewTime,
  };
}

/** A released lease: the next candidate need not wait. The API server refuses a duration of 0. */
export function released(before: LeaseSpec, now: Date): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: toMicroTime(now) };
}

function toMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
