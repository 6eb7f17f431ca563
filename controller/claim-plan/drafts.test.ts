import { describe, expect, test } from 'vitest';
import { draftClaimRecord, isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { ADDRESS_FINALIZER } from '#pkg/capi/contract-names.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { buildClaim, buildClaimRecord, buildIpAddress, buildPoolFacts } from '#test/support/build-claim.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { planAddressRecord } from './address-record.ts';
import { planClaimStatus } from './claim-status.ts';
import { draftIpAddress, missingMetadata } from './draft-ip-address.ts';

const NOW = new Date('2026-11-18T16:00:00.123Z');

describe('the IPAddress of a claim', () => {
  test('has both owner references with their flags, our finalizer, the label of the cluster, and no gateway where there is none', () => {
    expect(draftIpAddress(buildClaim(), buildClaimRecord(), 'uid-of-lab')).toEqual({
      metadata: {
        namespace: 'prod',
        name: 'vm-0',
        labels: { 'cluster.x-k8s.io/cluster-name': 'blue' },
        finalizers: [ADDRESS_FINALIZER],
        ownerReferences: buildIpAddress().owners,
      },
      spec: {
        claimRef: { name: 'vm-0' },
        poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' },
        address: '10.0.0.1',
        prefix: 24,
      },
    });
  });

  test('writes IPv6 as RFC 5952 has it, a prefix of 0, and the gateway', () => {
    const pool = buildPool({ name: 'lab', subnet: '::/0', ips: ['fd00::a'], gateway: 'fd00::1' });
    const spec = draftClaimRecord(pool, parseAddress('FD00:0:0:0:0:0:0:A'), buildClaim());
    expect(draftIpAddress(buildClaim(), { ...buildClaimRecord(), spec }, 'u')['spec']).toMatchObject({
      address: 'fd00::a',
      prefix: 0,
      gateway: 'fd00::1',
    });
  });

  test.each([{ cluster: null }, { cluster: 'no label value/' }])(
    'has no label for the cluster $cluster',
    ({ cluster }) => {
      expect(draftIpAddress(buildClaim({ cluster }), buildClaimRecord(), 'u').metadata.labels).toEqual({});
    },
  );
});

describe('an IPAddress that is adopted', () => {
  const adopt = (change: Parameters<typeof buildIpAddress>[0]) =>
    missingMetadata(buildIpAddress(change), buildClaim(), 'uid-of-lab');
  const [claimOwner = {}, poolOwner = {}] = buildIpAddress().owners;

  test('as we make it: nothing is written', () => {
    expect(adopt({})).toBeNull();
    expect(adopt({ owners: [{ ...claimOwner, apiVersion: 'ipam.cluster.x-k8s.io/v1beta1' }, poolOwner] })).toBeNull();
  });

  test('keeps the references, labels and finalizers of others', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
    expect(adopt({ owners: [other], finalizers: ['theirs'], labels: { theirs: 'yes' } })).toEqual({
      ownerReferences: [other, claimOwner, poolOwner],
      finalizers: ['theirs', ADDRESS_FINALIZER],
      labels: { 'cluster.x-k8s.io/cluster-name': 'blue' },
    });
  });

  test('gets the flags that a careless provider left out, and the uid of a pool that was made again', () => {
    const { controller: _, blockOwnerDeletion: __, ...bare } = claimOwner;
    expect(adopt({ owners: [bare, { ...poolOwner, uid: 'old' }] })).toEqual({
      ownerReferences: [claimOwner, poolOwner],
    });
  });
});

describe('the status of a claim', () => {
  const ready = { isReady: true, message: '10.0.0.1 of pool lab' } as const;
  const full = (message: string) => ({ isReady: false, reason: 'PoolExhausted', message }) as const;

  test('names the address, keeps the conditions of others, and says of which generation it speaks', () => {
    const theirs = { type: 'Paused', status: 'False' };
    expect(planClaimStatus(buildClaim({ generation: 3, conditions: [theirs] }), ready, NOW)).toEqual({
      addressRef: { name: 'vm-0' },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: '10.0.0.1 of pool lab',
          observedGeneration: 3,
          lastTransitionTime: '2026-11-18T16:00:00Z',
        },
        theirs,
      ],
    });
  });

  test('is not written again because other claims wait too, and is when the reason changes', () => {
    const conditions = planClaimStatus(buildClaim(), full('5/5, 1 claim waits'), NOW)?.conditions;
    const claim = buildClaim({ conditions });
    expect(planClaimStatus(claim, full('5/5, 90 claims wait'), NOW)).toBeNull();
    expect(planClaimStatus(claim, full('6/6, 1 claim waits'), NOW)).not.toBeNull();
    expect(planClaimStatus(claim, { ...full('x'), reason: 'PoolNotReady' }, NOW)).not.toBeNull();
    expect(planClaimStatus({ ...claim, generation: 2 }, full('x'), NOW)).not.toBeNull();
  });

  test('is written again when somebody else has the address of a small pool', () => {
    const conditions = planClaimStatus(buildClaim(), full('1/1 (10.0.0.5 by Pod a), 1 claim waits'), NOW)?.conditions;
    const claim = buildClaim({ conditions });
    expect(planClaimStatus(claim, full('1/1 (10.0.0.5 by Pod a), 90 claims wait'), NOW)).toBeNull();
    expect(planClaimStatus(claim, full('1/1 (10.0.0.5 by Pod b), 1 claim waits'), NOW)).not.toBeNull();
  });

  test('is written once for a refusal whose words have another number in each try, and again for another refusal', () => {
    const refused = (message: string) =>
      ({ isReady: false, reason: 'AllocationFailed', message, isOfOthers: true }) as const;
    const conditions = planClaimStatus(buildClaim(), refused('webhook away: took 10.02s (try a7f)'), NOW)?.conditions;
    const claim = buildClaim({ conditions });
    expect(planClaimStatus(claim, refused('webhook away: took 9s (try 33c)'), NOW)).toBeNull();
    expect(planClaimStatus(claim, refused('exceeded quota'), NOW)).not.toBeNull();
  });

  test('is written where the condition is there and the reference is not: a move carries no status', () => {
    const conditions = planClaimStatus(buildClaim(), ready, NOW)?.conditions;
    expect(planClaimStatus(buildClaim({ conditions }), ready, NOW)).toMatchObject({ addressRef: { name: 'vm-0' } });
    expect(planClaimStatus(buildClaim({ conditions, addressName: 'vm-0' }), ready, NOW)).toBeNull();
  });
});

describe('a record is of a claim', () => {
  test.each([
    { name: 'its own', record: buildClaimRecord(), isOwn: true },
    {
      name: 'of an earlier claim of the same name',
      record: buildClaimRecord('10.0.0.1', { uid: 'old' }),
      isOwn: false,
    },
    { name: 'of another namespace', record: buildClaimRecord('10.0.0.1', { namespace: 'dev' }), isOwn: false },
    {
      name: 'of an IPAddress of its name in another pool',
      record: buildClaimRecord('10.9.0.7', {}, 'other'),
      isOwn: false,
    },
    { name: 'of a pod of that name', record: buildClaimRecord('10.0.0.1', { kind: 'Pod' }), isOwn: false },
  ])('$name: $isOwn', ({ record, isOwn }) => {
    expect(isRecordOfClaim(record, buildClaim())).toBe(isOwn);
  });

  test('of that name, where the uid of the claim is not known', () => {
    const { uid: _, ...claim } = buildClaim();
    expect(isRecordOfClaim(buildClaimRecord(), claim)).toBe(true);
    expect(isRecordOfClaim(buildClaimRecord('10.0.0.1', { name: 'vm-1' }), claim)).toBe(false);
  });

  test('not any more while it rests: its uid is gone, and so is the holder', () => {
    const { uid: _, ...holder } = buildClaimRecord().spec.holder;
    const resting = { ...buildClaimRecord().spec, state: 'Cooling' as const, until: '2027-01-01T00:00:00Z', holder };
    expect(isRecordOfClaim({ ...buildClaimRecord(), spec: resting }, buildClaim())).toBe(false);
  });
});

describe('the record of an IPAddress', () => {
  const plan = (change: Partial<Parameters<typeof planAddressRecord>[0]>) =>
    planAddressRecord({
      address: buildIpAddress(),
      claim: buildClaim(),
      pool: buildPoolFacts(),
      record: null,
      ...change,
    });

  test('is made at once, paused or not, for the claim that the IPAddress names', () => {
    const spec = draftClaimRecord(buildPool({ name: 'lab' }), parseAddress('10.0.0.1'), buildClaim());
    expect(plan({ claim: buildClaim({ isPaused: true }) })).toEqual({ do: 'create', spec });
    expect(plan({ claim: null })).toEqual({ do: 'create', spec });
  });

  test('has no uid while neither the claim nor an owner reference tells it', () => {
    const verdict = plan({ claim: null, address: buildIpAddress({ claimUid: null }) });
    expect(verdict).toMatchObject({ spec: { holder: { kind: 'IPAddressClaim', name: 'vm-0' } } });
    expect(verdict).not.toHaveProperty('spec.holder.uid');
  });

  test.each([
    { name: 'ends', change: { address: buildIpAddress({ isTerminating: true }) } },
    {
      name: 'ends without its claim, and that we do not hold back',
      change: { claim: null, address: buildIpAddress({ isTerminating: true, finalizers: ['other'] }) },
    },
    { name: 'is given back by its claim just now', change: { claim: buildClaim({ isDeleting: true }) } },
    { name: 'names no claim', change: { address: buildIpAddress({ claim: null }) } },
    { name: 'is of a pool that is not here', change: { pool: null } },
    { name: 'has its record', change: { record: buildClaimRecord() } },
  ])('is not made for one that $name', ({ change }) => {
    expect(plan(change)).toEqual({ do: 'nothing' });
  });

  test('is not made for one that somebody deletes after its claim: it is let go, also when its pool is gone', () => {
    const address = buildIpAddress({ isTerminating: true });
    expect(plan({ address, claim: null, pool: null })).toEqual({ do: 'let-go' });
  });

  test('is of the name of the IPAddress where that is not the name of its claim, which would give it back as a second one', () => {
    const address = buildIpAddress({ name: 'extra' });
    const verdict = plan({ address, claim: buildClaim({ isDeleting: true }) });
    expect(verdict).toMatchObject({ do: 'create', spec: { holder: { name: 'extra' } } });
    expect(verdict).not.toHaveProperty('spec.holder.uid');
  });

  test('has not the uid of a claim of that name on another pool, which neither gets nor releases it', () => {
    const address = buildIpAddress({ claimUid: null });
    const verdict = plan({ address, claim: buildClaim({ pool: 'other', isDeleting: true }) });
    expect(verdict).toMatchObject({ do: 'create', spec: { pool: { name: 'lab' } } });
    expect(verdict).not.toHaveProperty('spec.holder.uid');
  });

  test('is made for one whose claim moves away: the address is in use elsewhere', () => {
    expect(plan({ claim: buildClaim({ isDeleting: true, isMovedAway: true }) })).toMatchObject({ do: 'create' });
  });

  test.each([
    {
      name: 'a pod has the number',
      change: { record: buildRecord({ address: '10.0.0.1' }) },
      says: 'Container default/web',
    },
    {
      name: 'it is the gateway',
      change: { pool: buildPoolFacts({ gateway: '10.0.0.1' }) },
      says: '10.0.0.1 is the gateway of pool lab',
    },
    { name: 'it is no address', change: { address: buildIpAddress({ address: null }) }, says: 'is not an IP address' },
  ])('is not made where $name, and that is said', ({ change, says }) => {
    expect(plan(change)).toMatchObject({ do: 'report', message: expect.stringContaining(says) });
  });
});
