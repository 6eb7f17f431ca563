import { describe, expect, test } from 'vitest';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import {
  buildClaim,
  buildClaimRecord,
  buildIpAddress,
  buildPoolFacts,
  observeClaim,
} from '#test/support/build-claim.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { nextStep } from './next-step.ts';
import type { ObservedClaim } from './observed-claim.ts';

const NOW = new Date('2026-11-18T16:00:00Z');

/** `rest ready`, `write-status pool-not-ready`, `release 10.0.0.1`. */
function describeStep(change: Partial<ObservedClaim>): string {
  const step = nextStep(observeClaim(change), NOW);
  if (step.do === 'rest' || step.do === 'write-status') return `${step.do} ${step.why}`;
  return 'record' in step ? `${step.do} ${step.record.spec.address}` : step.do;
}

function messageOf(change: Partial<ObservedClaim>): string {
  const step = nextStep(observeClaim(change), NOW);
  if (step.do !== 'write-status') return step.do;
  const [{ reason, message }] = step.status.conditions as [{ reason: string; message: string }];
  return `${reason}: ${message}`;
}

const RECORD = buildClaimRecord();
const ADDRESS = buildIpAddress();
const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '10.0.0.1 of pool lab',
  observedGeneration: 1,
};
const SERVED = buildClaim({ addressName: 'vm-0', conditions: [READY] });
const PLACED = { address: ADDRESS, addressRecord: RECORD, records: [RECORD] };
const selector = { matchLabels: { app: 'web' }, matchExpressions: [] };

describe('a living claim', () => {
  test.each<{ name: string; seen: Partial<ObservedClaim>; step: string }>([
    { name: 'its cluster is paused', seen: { cluster: 'paused' }, step: 'rest cluster-paused' },
    { name: 'its cluster is missing', seen: { cluster: 'missing' }, step: 'rest cluster-missing' },
    { name: 'it names no cluster', seen: { cluster: 'unnamed' }, step: 'take' },
    { name: 'it is paused itself', seen: { claim: buildClaim({ isPaused: true }) }, step: 'rest claim-paused' },
    { name: 'its pool is paused', seen: { isPoolPaused: true }, step: 'rest pool-paused' },
    { name: 'it has no finalizer of ours', seen: { claim: buildClaim({ finalizers: ['x'] }) }, step: 'add-finalizer' },
    {
      name: 'paused, and without a finalizer: not even that is written',
      seen: { isPoolPaused: true, claim: buildClaim({ finalizers: [] }) },
      step: 'rest pool-paused',
    },
    { name: 'nothing is taken yet', seen: {}, step: 'take' },
    { name: 'a move may be bringing its IPAddress', seen: { isArriving: true }, step: 'rest arriving' },
    { name: 'a move has brought its IPAddress', seen: { ...PLACED, isArriving: true }, step: 'write-status ready' },
    {
      name: 'a leader died between its record and its IPAddress',
      seen: { isArriving: true, records: [RECORD] },
      step: 'create-address 10.0.0.1',
    },
    { name: 'it has a record and no IPAddress', seen: { records: [RECORD] }, step: 'create-address 10.0.0.1' },
    {
      name: 'two records and no IPAddress: the lower one is kept for now, and none is given back',
      seen: { records: [buildClaimRecord('10.0.0.9'), RECORD] },
      step: 'create-address 10.0.0.1',
    },
    {
      name: 'two records: the one that the IPAddress names stays',
      seen: { ...PLACED, records: [buildClaimRecord('10.0.0.0'), RECORD] },
      step: 'release 10.0.0.0',
    },
    {
      name: 'the pool is gone, and the record is there',
      seen: { records: [RECORD], pool: null },
      step: 'create-address 10.0.0.1',
    },
    { name: 'all but its status is there', seen: PLACED, step: 'write-status ready' },
    { name: 'all is there', seen: { ...PLACED, claim: SERVED }, step: 'rest ready' },
    {
      name: 'all is there, and the pool was deleted by force',
      seen: { ...PLACED, claim: SERVED, pool: null },
      step: 'rest ready',
    },
    {
      name: 'all is there, and the pool is disabled and was shrunk',
      seen: { ...PLACED, claim: SERVED, pool: buildPoolFacts({ isDisabled: true, ips: ['10.0.0.77'] }) },
      step: 'rest ready',
    },
    {
      name: 'the spec has another generation than the condition says',
      seen: { ...PLACED, claim: { ...SERVED, generation: 2 } },
      step: 'write-status ready',
    },
    {
      name: 'a move brought its IPAddress without our owner references and finalizer',
      seen: { ...PLACED, address: buildIpAddress({ owners: [], claimUid: null, finalizers: [] }) },
      step: 'adopt-address',
    },
    {
      name: 'the garbage collector took the reference to a pool that is deleted in the foreground, and would take it again',
      seen: {
        ...PLACED,
        claim: SERVED,
        address: buildIpAddress({ owners: ADDRESS.owners.slice(0, 1) }),
        pool: buildPoolFacts({ isTerminating: true }),
      },
      step: 'rest ready',
    },
    {
      name: 'a move brought its IPAddress, whose record is on its way',
      seen: { address: ADDRESS },
      step: 'rest address-without-record',
    },
    {
      name: 'the record was made before the claim was seen',
      seen: { ...PLACED, records: [withoutUid(RECORD)] },
      step: 'name-record 10.0.0.1',
    },
    {
      name: 'the IPAddress of an earlier claim of its name is deleted, as the message asks',
      seen: { address: buildIpAddress({ isTerminating: true, claimUid: 'earlier' }) },
      step: 'unprotect-address',
    },
    {
      name: 'its IPAddress was deleted by hand',
      seen: { ...PLACED, claim: SERVED, address: buildIpAddress({ isTerminating: true }) },
      step: 'unprotect-address',
    },
    {
      name: 'its IPAddress was deleted by hand and somebody else holds it',
      seen: { ...PLACED, address: buildIpAddress({ isTerminating: true, finalizers: ['other'] }) },
      step: 'rest address-ending',
    },
    { name: 'the pool holds back during a move', seen: { hold: 'wait' }, step: 'write-status held' },
    {
      name: 'the pool holds back, and is full: it goes on saying so',
      seen: { hold: 'wait', room: { hasFree: false, total: 2n, holders: () => '', waiting: 3 } },
      step: 'write-status exhausted',
    },
    {
      name: 'the pool holds back, and the claim has its record',
      seen: { hold: 'wait', records: [RECORD] },
      step: 'create-address 10.0.0.1',
    },
    {
      name: 'the pool is full',
      seen: { room: { hasFree: false, total: 2n, holders: () => '', waiting: 3 } },
      step: 'write-status exhausted',
    },
  ])('$name: $step', ({ seen, step }) => {
    expect(describeStep(seen)).toBe(step);
  });
});

describe('a claim that is being deleted', () => {
  const deleted = (change = {}) => ({ claim: buildClaim({ isDeleting: true, ...change }) });
  const unprotected = buildIpAddress({ finalizers: [] });
  const [, poolOwner] = ADDRESS.owners;
  const stripped = buildIpAddress({ claimUid: null, owners: poolOwner === undefined ? [] : [poolOwner] });
  const used = buildIpAddress({ finalizers: [ADDRESS_FINALIZER, 'vsphere/in-use'] });

  test.each<{ name: string; seen: Partial<ObservedClaim>; step: string }>([
    {
      name: 'its cluster is paused',
      seen: { ...deleted(), ...PLACED, cluster: 'paused' },
      step: 'rest cluster-paused',
    },
    { name: 'it is paused', seen: { ...deleted({ isPaused: true }), ...PLACED }, step: 'rest claim-paused' },
    { name: 'its pool is paused', seen: { ...deleted(), ...PLACED, isPoolPaused: true }, step: 'rest pool-paused' },
    { name: 'it moves away', seen: { ...deleted({ isMovedAway: true }), ...PLACED }, step: 'rest moved-away' },
    {
      name: 'our finalizer was stripped',
      seen: { ...deleted({ finalizers: ['x'] }), ...PLACED },
      step: 'rest finalizer-stripped',
    },
    {
      name: 'somebody else still uses it',
      seen: { ...deleted({ finalizers: [CLAIM_FINALIZER, 'vsphere/in-use'] }), ...PLACED },
      step: 'rest in-use-by-others',
    },
    {
      name: 'foreground deletion waits for us, so we do not wait for it',
      seen: { ...deleted({ finalizers: [CLAIM_FINALIZER, 'foregroundDeletion'] }), ...PLACED },
      step: 'release 10.0.0.1',
    },
    { name: 'its cluster went first', seen: { ...deleted(), ...PLACED, cluster: 'missing' }, step: 'release 10.0.0.1' },
    { name: 'it has all', seen: { ...deleted(), ...PLACED }, step: 'release 10.0.0.1' },
    { name: 'the pool is missing', seen: { ...deleted(), ...PLACED, pool: null }, step: 'release 10.0.0.1' },
    {
      name: 'its IPAddress is still used by somebody else: it is told so by the deletion, and keeps its record',
      seen: { ...deleted(), ...PLACED, address: used },
      step: 'delete-address',
    },
    {
      name: 'its IPAddress is still used by somebody else, who knows',
      seen: { ...deleted(), ...PLACED, address: { ...used, isTerminating: true } },
      step: 'rest in-use-by-others',
    },
    { name: 'the record is given back', seen: { ...deleted(), address: ADDRESS }, step: 'delete-address' },
    {
      name: 'the IPAddress is deleted',
      seen: { ...deleted(), address: { ...ADDRESS, isTerminating: true } },
      step: 'unprotect-address',
    },
    {
      name: 'an earlier version of this controller took our finalizer from the IPAddress',
      seen: { ...deleted(), address: unprotected },
      step: 'delete-address',
    },
    {
      name: 'the garbage collector took the reference to the claim from the IPAddress',
      seen: { ...deleted(), address: stripped },
      step: 'delete-address',
    },
    {
      name: 'so it did, and a pod has the number by now',
      seen: { ...deleted(), address: { ...stripped, isTerminating: true }, addressRecord: buildRecord() },
      step: 'unprotect-address',
    },
    {
      name: 'so it did, and the record of the number is of an earlier claim of this name, whose machine may live',
      seen: { ...deleted(), address: stripped, addressRecord: buildClaimRecord('10.0.0.1', { uid: 'earlier' }) },
      step: 'remove-finalizer',
    },
    {
      name: 'the IPAddress is on its way out',
      seen: { ...deleted(), address: { ...unprotected, isTerminating: true } },
      step: 'rest address-ending',
    },
    { name: 'nothing is left', seen: deleted(), step: 'remove-finalizer' },
    {
      name: 'the IPAddress of its name is of another claim',
      seen: { ...deleted(), address: buildIpAddress({ claimUid: 'other' }) },
      step: 'remove-finalizer',
    },
    {
      name: 'the IPAddress of its name was never adopted',
      seen: { ...deleted(), address: buildIpAddress({ claimUid: null, owners: [], finalizers: [] }) },
      step: 'remove-finalizer',
    },
    {
      name: 'the IPAddress of its name is of another pool',
      seen: { ...deleted(), address: buildIpAddress({ pool: null }) },
      step: 'remove-finalizer',
    },
  ])('$name: $step', ({ seen, step }) => {
    expect(describeStep(seen)).toBe(step);
  });

  test('a released address rests for as long as its pool says, and one that was never shown does not', () => {
    const pool = buildPoolFacts({ reuseCooldownSeconds: 30 });
    expect(nextStep(observeClaim({ ...deleted(), ...PLACED, pool }), NOW)).toMatchObject({ cooldownSeconds: 30 });
    const records = [RECORD, buildClaimRecord('10.0.0.2')];
    expect(nextStep(observeClaim({ ...PLACED, records, pool }), NOW)).toMatchObject({ cooldownSeconds: 0 });
  });
});

describe('what a claim that is not Ready says', () => {
  const inPool = (overrides: Parameters<typeof buildPoolFacts>[0]) => ({ pool: buildPoolFacts(overrides) });

  test.each<{ name: string; seen: Partial<ObservedClaim>; says: string }>([
    { name: 'no pool', seen: { pool: null }, says: 'PoolNotReady: pool lab does not exist' },
    {
      name: 'a pool that cannot be read',
      seen: { pool: { ...buildPoolFacts(), pool: null, problem: 'spec.subnet: missing' } },
      says: 'PoolNotReady: pool lab is not ready: Invalid: spec.subnet: missing',
    },
    {
      name: 'a terminating pool',
      seen: inPool({ isTerminating: true }),
      says: 'PoolNotReady: pool lab is not ready: Terminating: nothing new is given out; it goes when the last address is back',
    },
    {
      name: 'a disabled pool',
      seen: inPool({ isDisabled: true }),
      says: 'PoolNotReady: pool lab is not ready: Disabled: spec.disable is true',
    },
    {
      name: 'a pool that overlaps an earlier one',
      seen: { pool: { ...buildPoolFacts(), overlap: 'shares 10.0.0.1 with old' } },
      says: 'PoolNotReady: pool lab is not ready: Overlap: shares 10.0.0.1 with old; the earlier pool has them',
    },
    {
      name: 'a pool of other namespaces by name',
      seen: inPool({ namespaceNames: ['dev'] }),
      says: 'PoolNotReady: pool lab: namespace prod is not in namespaceName [dev]',
    },
    {
      name: 'a pool of other namespaces by label',
      seen: inPool({ namespaceAffinity: selector }),
      says: 'PoolNotReady: pool lab: the labels of namespace prod do not match namespaceAffinity [app=web]',
    },
    ...(['podAffinity', 'nodeAffinity'] as const).map((field) => ({
      name: `a pool with ${field}`,
      seen: inPool({ [field]: selector }),
      says: `PoolNotReady: pool lab: it is reserved for pods by spec.${field}`,
    })),
    {
      name: 'a pool with nodeName',
      seen: inPool({ nodeNames: ['worker-1'] }),
      says: 'PoolNotReady: pool lab: it is reserved for pods by spec.nodeName',
    },
    {
      name: 'a pool with multusName',
      seen: inPool({ multusNames: ['vlan'] }),
      says: 'PoolNotReady: pool lab: it is reserved for pods by spec.multusName',
    },
    {
      name: 'an auto pool',
      seen: inPool({ auto: { subnet: 's', interface: 'eth0', applicationUid: 'u', reclaim: true } }),
      says: 'PoolNotReady: pool lab: it was made for one application of pods',
    },
    {
      name: 'a full pool',
      seen: { room: { hasFree: false, total: 250n, holders: () => '', waiting: 1 } },
      says: 'PoolExhausted: pool lab is exhausted: 250/250 addresses are in use, 1 claim waits',
    },
    {
      name: 'a full pool that is small enough to say who has it',
      seen: { room: { hasFree: false, total: 1n, holders: () => '10.0.0.5 by Pod prod/web-0', waiting: 2 } },
      says: 'PoolExhausted: pool lab is exhausted: 1/1 addresses are in use (10.0.0.5 by Pod prod/web-0), 2 claims wait',
    },
    {
      name: 'an IPAddress of its name for another pool',
      seen: { address: buildIpAddress({ pool: 'other' }) },
      says: 'AllocationFailed: IPAddress prod/vm-0 names another pool (other); delete it',
    },
    {
      name: 'an IPAddress of its name for the pool of another provider',
      seen: { address: buildIpAddress({ pool: null }) },
      says: 'AllocationFailed: IPAddress prod/vm-0 names another pool (not one of ours); delete it',
    },
    {
      name: 'an IPAddress of its name for another claim',
      seen: { address: buildIpAddress({ claim: 'vm-1' }) },
      says: 'AllocationFailed: IPAddress prod/vm-0 names another claim (vm-1); delete it',
    },
    {
      name: 'an IPAddress of an earlier claim of its name',
      seen: { address: buildIpAddress({ claimUid: 'old' }) },
      says: 'AllocationFailed: IPAddress prod/vm-0 belongs to an earlier claim of this name (uid old), whose machine may still use the address; delete it once that machine is gone',
    },
    {
      name: 'an IPAddress that another kind controls',
      seen: { address: buildIpAddress({ claimUid: null, owners: [{ kind: 'Machine', name: 'm', controller: true }] }) },
      says: 'AllocationFailed: IPAddress prod/vm-0 is controlled by Machine m; delete it',
    },
    {
      name: 'an IPAddress outside of the subnet',
      seen: { address: buildIpAddress({ address: parseAddress('192.0.2.1') }) },
      says: 'AllocationFailed: 192.0.2.1 is not in 10.0.0.0/24, the subnet of lab',
    },
    {
      name: 'an IPAddress that is none',
      seen: { address: buildIpAddress({ address: null }) },
      says: 'AllocationFailed: spec.address of IPAddress prod/vm-0 is not an IP address',
    },
    {
      name: 'an IPAddress whose number a pod has',
      seen: { address: ADDRESS, addressRecord: buildRecord({ holder: { kind: 'Pod', node: 'worker-1' } }) },
      says: 'AllocationFailed: 10.0.0.5 of IPAddress prod/vm-0 is held by Pod default/web eth0 on worker-1; release it, or delete the IPAddress',
    },
  ])('$name', ({ seen, says }) => {
    expect(messageOf(seen)).toBe(says);
  });

  test('labels of its namespace that match let it pass', () => {
    expect(describeStep({ ...inPool({ namespaceAffinity: selector }), namespaceLabels: { app: 'web' } })).toBe('take');
  });
});

function withoutUid(record: ReturnType<typeof buildClaimRecord>) {
  const { uid: _, ...holder } = record.spec.holder;
  return { ...record, spec: { ...record.spec, holder } };
}
