import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';

export const LEASES: Resource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease' };

export interface LeaseSpec {
  /** Empty when nobody holds it. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly leaseTransitions: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
}

/** Lenient: a lease that makes no sense is one that nobody holds. */
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

/** The lease as `identity` would hold it from now on. Times are for people: nobody decides by another machine's clock. */
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

/** Given back: the next one need not wait. A duration of 0 would be refused. */
export function released(before: LeaseSpec, now: Date): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: toMicroTime(now) };
}

function toMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
