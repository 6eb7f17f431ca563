import type { ObservedClaim } from '#controller/claim-plan/observed-claim.ts';
import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool, type PoolOverrides } from './build-pool.ts';
import { buildRecord } from './build-record.ts';

/** A claim of cluster `blue` on pool `lab` that we have protected and not served yet. */
export function buildClaim(change: Partial<Claim> = {}): Claim {
  return {
    namespace: 'prod',
    name: 'vm-0',
    uid: 'claim-uid',
    resourceVersion: '7',
    generation: 1,
    createdAt: '2026-11-16T10:00:00Z',
    finalizers: [CLAIM_FINALIZER],
    isDeleting: false,
    isPaused: false,
    isMovedAway: false,
    cluster: 'blue',
    pool: 'lab',
    addressName: null,
    conditions: undefined,
    ...change,
  };
}

const OWNERS = [
  {
    apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
    kind: 'IPAddressClaim',
    name: 'vm-0',
    uid: 'claim-uid',
    controller: true,
    blockOwnerDeletion: true,
  },
  {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    name: 'lab',
    uid: 'uid-of-lab',
    controller: false,
    blockOwnerDeletion: true,
  },
];

/** The IPAddress of `buildClaim`, as we make it. */
export function buildIpAddress(change: Partial<MachineAddress> = {}): MachineAddress {
  return {
    namespace: 'prod',
    name: 'vm-0',
    uid: 'address-uid',
    resourceVersion: '8',
    isTerminating: false,
    finalizers: [ADDRESS_FINALIZER],
    labels: { 'cluster.x-k8s.io/cluster-name': 'blue' },
    owners: OWNERS,
    claimUid: 'claim-uid',
    claim: 'vm-0',
    pool: 'lab',
    address: parseAddress('10.0.0.1'),
    ...change,
  };
}

export function buildClaimRecord(
  address = '10.0.0.1',
  holder: Partial<IpRecord['spec']['holder']> = {},
  poolName = 'lab',
): IpRecord {
  const { containerID: _c, netns: _n, network: _w, ...plain } = buildRecord().spec.holder;
  const pool = { kind: 'SpiderIPPool', name: poolName, uid: `uid-of-${poolName}` } as const;
  const own = { kind: 'IPAddressClaim', namespace: 'prod', name: 'vm-0', uid: 'claim-uid', interface: '', node: '' };
  const record = buildRecord({ address, pool });
  return { ...record, spec: { ...record.spec, holder: { ...plain, ...own, ...holder } as IpRecord['spec']['holder'] } };
}

export function buildPoolFacts(overrides: PoolOverrides = {}): PoolFacts {
  return {
    name: 'lab',
    generation: 1,
    pool: buildPool({ name: 'lab', ...overrides }),
    problem: null,
    overlap: null,
    subnetOverlap: null,
    reserved: IntervalSet.EMPTY,
  };
}

/** Nothing stands in the way, and nothing has been taken yet. */
export function observeClaim(change: Partial<ObservedClaim> = {}): ObservedClaim {
  return {
    claim: buildClaim(),
    cluster: 'running',
    pool: buildPoolFacts(),
    isPoolPaused: false,
    isArriving: false,
    namespaceLabels: {},
    address: null,
    addressRecord: null,
    records: [],
    room: { hasFree: true, total: 256n, holders: () => '', waiting: 1 },
    hold: null,
    ...change,
  };
}
