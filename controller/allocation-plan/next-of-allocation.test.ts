import { describe, expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import {
  buildAllocation,
  buildAllocationRecord,
  GIVEN,
  observeAllocation as observe,
  withStatus,
} from '#test/support/build-allocation.ts';
import { nextOfAllocation } from './next-of-allocation.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

const NOW = new Date('2026-05-19T09:00:00Z');
type Wish = NonNullable<Parameters<typeof observe>[0]>;
const next = (seen: ObservedAllocation, now = NOW) => nextOfAllocation(seen, now);
const says = (message: RegExp, phase = 'Error') =>
  expect.objectContaining({
    do: 'write-status',
    status: { phase, message: expect.stringMatching(message) as string },
  }) as object;

const PENDING = withStatus({ phase: 'Pending', message: 'an address of NetworkNamespace prod-network is being taken' });
const asks = (requestedAddress: string) => ({ ...PENDING, requestedAddress });
const POD = { kind: 'Pod', namespace: 'prod', name: 'web-0', uid: 'p', interface: 'eth0', node: 'worker-1' } as const;

describe('the order: finalizer, Pending, record, Allocated', () => {
  test('first finalizer, labels and owner in one write', () => {
    const bare = buildAllocation({ finalizers: [], labels: { mine: 'x' }, owners: [] });
    expect(next(observe({ allocation: bare }))).toEqual({
      do: 'write-metadata',
      metadata: {
        finalizers: [ALLOCATION_FINALIZER],
        labels: {
          'vitistack.io/network-namespace': 'prod-network',
          'vitistack.io/network-configuration': 'web-server-01',
        },
        ownerReferences: [
          { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'web-server-01', uid: 'abc-123' },
        ],
      },
    });
  });

  test('point 1: then Pending with a message, so that the phase is never empty', () => {
    expect(next(observe())).toEqual(says(/address of NetworkNamespace prod-network is being taken/, 'Pending'));
  });

  test('then the lowest free address', () => {
    expect(next(observe({ allocation: PENDING }))).toEqual({ do: 'take', address: null });
  });

  test('then Allocated with all that the network says, and a time in whole seconds, UTC (point 19)', () => {
    const step = next(
      observe({ allocation: PENDING, records: [buildAllocationRecord()] }),
      new Date('2026-05-19T09:00:00.789Z'),
    );
    expect(step).toEqual({ do: 'write-status', status: { ...GIVEN, message: null }, why: 'allocated' });
  });

  test('then nothing', () => {
    const allocation = withStatus({ ...GIVEN });
    expect(next(observe({ allocation, records: [buildAllocationRecord()] }))).toEqual({ do: 'rest', why: 'allocated' });
  });
});

describe('while nothing can be given, it says why', () => {
  test.each([
    {
      name: 'its NetworkNamespace is missing',
      seen: { network: null },
      expected: says(/^NetworkNamespace prod-network does not exist in namespace datacenter-01$/),
    },
    {
      name: 'its NetworkNamespace is being deleted (point 12)',
      seen: { network: { metadata: { deletionTimestamp: '2026-05-19T08:59:00Z' } } },
      expected: says(/prod-network is being deleted/),
    },
    {
      name: 'its NetworkNamespace is not provisioned yet',
      seen: { network: { status: { provisioningPhase: 'Pending' } } },
      expected: says(/waits until NetworkNamespace prod-network is provisioned; it is Pending/, 'Pending'),
    },
    {
      name: 'its NetworkNamespace is of type dhcp (point 12)',
      seen: { network: { allocation: { type: 'dhcp' } } },
      expected: says(/gives out no addresses: it is of type dhcp/),
    },
    {
      name: 'the static block is wrong',
      seen: { network: { block: { ipv4RangeStart: '10.0.2.60', ipv4RangeEnd: '10.0.2.50' } } },
      expected: says(/ipv4RangeStart: 10\.0\.2\.60 is after the end/),
    },
    {
      name: 'its NetworkConfiguration is not there yet (point 7)',
      seen: { configuration: null },
      expected: says(/waits for NetworkConfiguration web-server-01, which does not exist/, 'Pending'),
    },
    {
      name: 'its NetworkConfiguration is being deleted',
      seen: { configuration: { uid: 'abc-123', isDeleting: true } },
      expected: says(/NetworkConfiguration web-server-01 is being deleted/, 'Pending'),
    },
    { name: 'etcd was restored', seen: { hold: 'etcd was restored' }, expected: says(/etcd was restored/, 'Pending') },
    {
      name: 'the range is exhausted',
      seen: { room: { hasFree: false, total: 253n, holders: () => '' } },
      expected: says(/^NetworkNamespace prod-network is exhausted: 253\/253 addresses are in use$/),
    },
    {
      name: 'the range is exhausted, and small enough to say who has it',
      seen: { room: { hasFree: false, total: 1n, holders: () => '10.0.2.50 by Pod prod/web-0 eth0 on worker-1' } },
      expected: says(/exhausted: 1\/1 addresses are in use \(10\.0\.2\.50 by Pod prod\/web-0 eth0 on worker-1\)$/),
    },
    {
      name: 'its domain was changed under addresses in use (point 13)',
      seen: { otherDomain: 'blue' },
      expected: says(
        /is in domain default now, and addresses of it are in use in domain blue: nothing new is given out/,
      ),
    },
    {
      name: 'all addresses are reserved',
      seen: { room: { hasFree: false, total: 0n, holders: () => '' } },
      expected: says(/all of them are reserved/),
    },
  ])('$name', ({ seen, expected }) => {
    const said = (allocation?: IpAllocation) =>
      next(observe({ ...seen, ...(allocation === undefined ? {} : { allocation }) }));
    const statusOf = (step: ReturnType<typeof said>) => (step as unknown as { status: Record<string, unknown> }).status;
    // Point 1: the first phase is Pending.
    const first = said();
    expect(first).toMatchObject({ status: { phase: 'Pending', message: expect.stringMatching(/./) as string } });
    const isError = JSON.stringify(first).includes('asks NetworkNamespace prod-network for an address');
    const step = isError ? said(withStatus(statusOf(first))) : first;
    expect(step).toEqual(expected);
    // Nothing is written twice.
    expect(said(withStatus({ ...statusOf(first), ...statusOf(step) }))).toMatchObject({ do: 'rest' });
  });

  test('an empty provisioning phase is not waited for', () => {
    expect(next(observe({ allocation: PENDING, network: { status: { provisioningPhase: '' } } }))).toMatchObject({
      do: 'take',
    });
  });

  test('what the API server has just refused is tried again without a word: it would be said anew each time', () => {
    const failed = withStatus({ phase: 'Error', message: 'cannot create the record 10.0.2.50' });
    expect(next(observe({ allocation: failed, isRefused: true }))).toEqual({ do: 'take', address: null });
  });

  test('Error goes back through Pending when what was wrong is gone', () => {
    const failed = withStatus({ phase: 'Error', message: 'NetworkNamespace prod-network does not exist' });
    expect(next(observe({ allocation: failed }))).toEqual(says(/is being taken/, 'Pending'));
  });
});

describe('requestedAddress', () => {
  test('in the range and free: exactly that', () => {
    expect(next(observe({ allocation: asks('10.0.2.100') }))).toEqual({
      do: 'take',
      address: parseAddress('10.0.2.100'),
    });
  });

  test.each([
    { name: 'outside of the network', asked: '10.0.3.5', problem: /^10\.0\.3\.5 is not in 10\.0\.2\.0\/24$/ },
    { name: 'outside of the range', asked: '10.0.2.20', problem: /10\.0\.2\.20 is outside of the range/ },
    { name: 'the gateway', asked: '10.0.2.1', problem: /10\.0\.2\.1 is the gateway/ },
    { name: 'the network address', asked: '10.0.2.0', problem: /is the network address of 10\.0\.2\.0\/24/ },
    { name: 'the broadcast address', asked: '10.0.2.255', problem: /is the broadcast address of 10\.0\.2\.0\/24/ },
    { name: 'garbage', asked: 'ten', problem: /requestedAddress: "ten" is not an IP address/ },
    { name: 'reserved', asked: '10.0.2.60', problem: /10\.0\.2\.60 is reserved by a SpiderReservedIP/ },
  ])('point 3: $name is an Error, and no substitute is given', ({ asked, problem }) => {
    const network = { block: { ipv4RangeStart: '10.0.2.50' } };
    expect(next(observe({ allocation: asks(asked), network, reserved: '10.0.2.60' }))).toEqual(says(problem));
  });

  test('point 18: an IPv6 address is refused in words', () => {
    expect(next(observe({ allocation: asks('fd00::5') }))).toEqual(
      says(/"fd00::5" is IPv6; IPAllocations are IPv4 only/),
    );
  });

  test('point 4: taken by another is a conflict that names the holder, and its end is waited for', () => {
    const others = [buildAllocationRecord('10.0.2.100', POD)];
    expect(next(observe({ allocation: asks('10.0.2.100'), others }))).toMatchObject({
      status: { phase: 'Error', message: 'conflict: 10.0.2.100 is held by Pod prod/web-0 eth0 on worker-1' },
      why: 'address-held',
      heldRecord: '10.0.2.100',
    });
  });

  test('point 4: the address that an allocation had before is preferred, and a free one is given otherwise', () => {
    const allocation = { ...PENDING, lastAddress: parseAddress('10.0.2.77') };
    expect(next(observe({ allocation }))).toEqual({ do: 'take', address: parseAddress('10.0.2.77') });
    const others = [buildAllocationRecord('10.0.2.77', POD)];
    expect(next(observe({ allocation, others }))).toEqual({ do: 'take', address: null });
    const records = [buildAllocationRecord()];
    expect(next(observe({ allocation, others, records }))).toMatchObject({
      status: { phase: 'Allocated', message: '10.0.2.77, which it had before, could not be given to it again' },
    });
  });

  test.each([
    { name: 'asked for', allocation: asks('10.0.2.100') },
    { name: 'preferred', allocation: { ...PENDING, lastAddress: parseAddress('10.0.2.100') } },
    { name: 'shown', allocation: withStatus({ ...GIVEN, address: '10.0.2.100' }) },
  ])(
    'an address that is $name and was given to another IPAllocation of its machine goes on with it once that one vanished',
    ({ allocation }) => {
      const sibling = buildAllocationRecord('10.0.2.100', { name: 'db-server-fixed', uid: 'of-the-sibling' });
      const seen = { allocation, others: [sibling] };
      expect(next(observe({ ...seen, isVanished: () => true }))).toEqual({ do: 'name-record', record: sibling });
      expect(next(observe(seen))).not.toMatchObject({ do: 'name-record' });
      const owner = { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'another-machine' };
      const strangers = [buildAllocationRecord('10.0.2.100', { name: 'db-server-fixed', uid: 'x', owner })];
      expect(next(observe({ allocation, others: strangers, isVanished: () => true }))).not.toMatchObject({
        do: 'name-record',
      });
    },
  );

  test('point 5: changed while Allocated, the address stays, and the message says what to do', () => {
    const allocation = { ...withStatus({ ...GIVEN }), requestedAddress: '10.0.2.100' };
    expect(next(observe({ allocation, records: [buildAllocationRecord()] }))).toMatchObject({
      status: {
        message: expect.stringMatching(/asks for 10\.0\.2\.100 now and keeps 10\.0\.2\.50; delete it/) as string,
      },
    });
  });
});

describe('an address that is held stays with its holder', () => {
  const kept = (change: Parameters<typeof observe>[0], status: object = {}) =>
    next(observe({ allocation: withStatus({ ...GIVEN, ...status }), records: [buildAllocationRecord()], ...change }));

  test('point 2: whatever goes wrong, the address stays in the status and in the ledger', () => {
    expect(kept({ network: null })).toEqual({
      do: 'write-status',
      status: { message: 'its NetworkNamespace does not exist any more; 10.0.2.50 is kept' },
      why: 'allocated',
    });
    expect(kept({ network: null }, { phase: 'Error' })).toMatchObject({ status: { phase: 'Allocated' } });
  });

  test.each([
    {
      name: 'point 11: the range was shrunk',
      network: { block: { ipv4RangeStart: '10.0.2.100' } },
      status: { message: '10.0.2.50 is outside of the range now; it is kept' },
    },
    {
      name: 'point 11: gateway, DNS and VLAN were edited, so the status is refreshed',
      network: { block: { ipv4Gateway: '10.0.2.254', dns: ['9.9.9.9'], vlanId: 200 } },
      status: { gateway: '10.0.2.254', dns: ['9.9.9.9'], vlanId: 200 },
    },
    {
      name: 'point 11: the network was re-addressed, so the allocation is flagged and keeps what it was told',
      network: { block: { ipv4CIDR: '10.9.0.0/16', ipv4Gateway: '' } },
      status: { message: '10.0.2.50 is not in 10.9.0.0/16 any more; it is kept' },
    },
    {
      name: 'point 12: the network was switched to dhcp',
      network: { allocation: { type: 'dhcp' } },
      status: { message: 'NetworkNamespace prod-network: it is of type dhcp; 10.0.2.50 is kept' },
    },
  ])('$name', ({ network, status }) => {
    expect(kept({ network })).toEqual({ do: 'write-status', status, why: 'allocated' });
  });

  test('point 12: a NetworkNamespace that is being deleted changes nothing for what is Allocated', () => {
    const network = { metadata: { deletionTimestamp: '2026-05-19T08:59:00Z' } };
    expect(kept({ network })).toEqual({ do: 'rest', why: 'allocated' });
  });

  test('an address that is reserved later is kept', () => {
    expect(kept({ reserved: '10.0.2.50' })).toMatchObject({
      status: { message: expect.stringMatching(/is reserved/) as string },
    });
  });

  test('point 8: missing labels and owner are added when the NetworkConfiguration is there, and other owners stay', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' };
    const before = {
      apiVersion: 'vitistack.io/v1alpha1',
      kind: 'NetworkConfiguration',
      name: 'web-server-01',
      uid: 'old',
    };
    const allocation = { ...withStatus({ ...GIVEN }), owners: [other, before] };
    expect(kept({ allocation })).toEqual({
      do: 'write-metadata',
      metadata: { ownerReferences: [other, { ...before, uid: 'abc-123' }] },
    });
    expect(kept({ allocation, configuration: null })).not.toMatchObject({ do: 'write-metadata' });
  });

  test('no owner is added while the NetworkConfiguration is being deleted: with --cascade=orphan its absence is meant', () => {
    const configuration = { uid: 'abc-123', isDeleting: true };
    expect(kept({ allocation: { ...withStatus({ ...GIVEN }), owners: [] }, configuration })).toEqual({
      do: 'rest',
      why: 'allocated',
    });
  });

  test('a finalizer that somebody removed is set again', () => {
    expect(kept({ allocation: { ...withStatus({ ...GIVEN }), finalizers: [] } })).toMatchObject({
      do: 'write-metadata',
    });
  });

  test('of two records the one that the status shows stays', () => {
    const records = [buildAllocationRecord('10.0.2.9'), buildAllocationRecord()];
    expect(kept({ records })).toMatchObject({ do: 'release', record: { name: '10.0.2.9' } });
    // Two leaders took one each: both stay until the status, which only one of them can write, shows one.
    expect(next(observe({ allocation: PENDING, records }))).toMatchObject({
      do: 'write-status',
      status: { address: '10.0.2.9' },
    });
  });

  test('of two records, where the status shows none yet, the one that is asked for stays', () => {
    const records = [buildAllocationRecord('10.0.2.10'), buildAllocationRecord('10.0.2.50')];
    expect(next(observe({ allocation: asks('10.0.2.50'), records }))).toMatchObject({
      do: 'write-status',
      status: { address: '10.0.2.50' },
    });
  });

  test('it takes over the record of one of its name and NetworkConfiguration that vanished, and an imported one', () => {
    for (const uid of ['of-the-one-before', undefined]) {
      const { uid: _, ...holder } = buildAllocationRecord().spec.holder;
      const record = buildAllocationRecord('10.0.2.50', uid === undefined ? holder : { uid });
      const spec = { ...record.spec, holder: uid === undefined ? holder : record.spec.holder };
      expect(kept({ records: [{ ...record, spec }] })).toMatchObject({ do: 'name-record' });
    }
  });
});

describe('an address that the status shows without a record', () => {
  test('gets its record: another operator gave it, or the record was deleted by hand', () => {
    const shown = withStatus({ ...GIVEN, address: '10.0.2.77' });
    expect(next(observe({ allocation: shown }))).toEqual({ do: 'take', address: parseAddress('10.0.2.77') });
    expect(next(observe({ allocation: shown, hold: 'etcd was restored' }))).toMatchObject({ do: 'take' });
  });

  test('gets none where another address has a record of the allocation: a late writer put back what was before', () => {
    const seen = observe({ allocation: withStatus({ ...GIVEN }), records: [buildAllocationRecord('10.0.2.51')] });
    expect(next(seen)).toEqual({ do: 'write-status', status: { address: '10.0.2.51' }, why: 'allocated' });
  });

  test('is not replaced by another where somebody holds it', () => {
    const others = [buildAllocationRecord('10.0.2.50', POD)];
    expect(next(observe({ allocation: withStatus({ ...GIVEN }), others }))).toMatchObject({
      status: { phase: 'Error', message: expect.stringMatching(/held by Pod prod\/web-0 .*; both are left/) as string },
    });
  });

  test.each([
    { name: 'the gateway', address: '10.0.2.1', message: /is the gateway/ },
    { name: 'of another network', address: '10.9.0.1', message: /is not in 10\.0\.2\.0\/24/ },
  ])('is left alone where it is $name', ({ address, message }) => {
    expect(next(observe({ allocation: withStatus({ ...GIVEN, address }) }))).toMatchObject({
      status: { phase: 'Error', message: expect.stringMatching(message) as string },
    });
  });

  test('gets none in another domain than the one that the addresses of its network are in', () => {
    const seen = observe({ allocation: withStatus({ ...GIVEN }), otherDomain: 'blue' });
    expect(next(seen)).toEqual(says(/in use in domain blue/));
  });

  test('waits for its network', () => {
    expect(next(observe({ allocation: withStatus({ ...GIVEN }), network: null }))).toMatchObject({
      status: {
        phase: 'Error',
        message: expect.stringMatching(/has no record, and NetworkNamespace .* does not exist/) as string,
      },
    });
  });
});

describe('point 6: the time of an address', () => {
  const gone = (change: Wish = {}, allocation: IpAllocation = withStatus({ ...GIVEN })) =>
    observe({ allocation, records: [buildAllocationRecord()], configuration: null, ...change });
  const LATER = new Date('2026-05-19T10:00:01Z');
  const marked = { lastAddress: parseAddress('10.0.2.50') };

  test('is not over while its NetworkConfiguration lives, however late it is', () => {
    const lives = observe({ allocation: withStatus({ ...GIVEN }), records: [buildAllocationRecord()] });
    for (const now of [LATER, new Date('2027-05-19T10:00:00Z')]) {
      const step = next({ ...lives, evenSince: now }, now);
      expect(step).toEqual({ do: 'rest', why: 'allocated' });
    }
  });

  test('is not over because the NetworkConfiguration is gone', () => {
    expect(next(gone())).toEqual({
      do: 'write-status',
      status: {
        message: 'NetworkConfiguration web-server-01 is gone: the address is given back after 2026-05-19T10:00:00Z',
      },
      why: 'allocated',
    });
  });

  test('both: it is looked for in the API server first, and again after a minute', () => {
    expect(next(gone(), LATER)).toEqual({ do: 'look-for-configuration' });
    expect(next(gone({ configurationGoneMs: 59_000 }), LATER)).toMatchObject({ do: 'write-status', why: 'allocated' });
    expect(next(gone({ configurationGoneMs: 60_000 }), LATER)).toMatchObject({ do: 'write-metadata' });
  });

  test('then the address is noted, the status is Released without it, and the record goes', () => {
    const seen = gone({ configurationGoneMs: 60_000 });
    expect(next(seen, LATER)).toEqual({
      do: 'write-metadata',
      metadata: { annotations: { 'ipledger.io/last-address': '10.0.2.50' } },
    });
    const noted = gone({ configurationGoneMs: 60_000 }, withStatus({ ...GIVEN }, marked));
    expect(next(noted, LATER)).toMatchObject({ status: { phase: 'Released', address: null, expiresAt: null } });
    const { status } = next(noted, LATER) as unknown as { status: Record<string, unknown> };
    const released = gone({ configurationGoneMs: 60_000 }, withStatus(status, marked));
    expect(next(released, LATER)).toMatchObject({ do: 'release', isReclaimed: true });
    expect(next({ ...released, records: [] }, LATER)).toEqual({ do: 'rest', why: 'released' });
  });

  test('a NetworkConfiguration that comes back in between keeps its address, and later asks for the old one', () => {
    const released = { phase: 'Released', message: 'it was given back' } as const;
    const back = observe({ allocation: withStatus(released, marked), records: [buildAllocationRecord()] });
    expect(next(back, LATER)).toMatchObject({ status: { phase: 'Allocated', address: '10.0.2.50' } });
    const { phase: _, ...pending } = PENDING;
    expect(next(observe({ allocation: { ...pending, phase: 'Pending', ...marked } }), LATER)).toEqual({
      do: 'take',
      address: parseAddress('10.0.2.50'),
    });
  });

  test.each([
    { name: 'a time of 0 is no time', ttlSeconds: 0 },
    { name: 'no time is none', ttlSeconds: undefined },
  ])('$name, and never over', ({ ttlSeconds }) => {
    const { expiresAt: _, ...untimed } = GIVEN;
    const allocation = withStatus({ ...untimed });
    const network = { block: { ttlSeconds } };
    const records = [buildAllocationRecord()];
    expect(next(observe({ allocation, network, records }))).toEqual({ do: 'rest', why: 'allocated' });
    expect(next(observe({ allocation, network, records, configuration: null }), LATER)).toMatchObject({
      status: {
        message: expect.stringMatching(/is gone; delete this IPAllocation to give the address back/) as string,
      },
    });
  });
});

describe('point 9: the end', () => {
  const ends = (change: Partial<IpAllocation> = {}, seen: Wish = {}) =>
    next(observe({ allocation: { ...withStatus({ ...GIVEN }), isDeleting: true, ...change }, ...seen }));
  const records = [buildAllocationRecord()];

  test('Released, then the record, then the finalizer', () => {
    const first = ends({}, { records }) as unknown as { status: Record<string, unknown> };
    expect(first).toMatchObject({
      do: 'write-status',
      status: { phase: 'Released', address: null, message: '10.0.2.50 is given back' },
    });
    const released = { ...withStatus(first.status), isDeleting: true };
    expect(next(observe({ allocation: released, records }))).toMatchObject({ do: 'release', isReclaimed: false });
    expect(next(observe({ allocation: released }))).toEqual({ do: 'remove-finalizer' });
  });

  test('at once, whatever its time and its NetworkConfiguration (point 10)', () => {
    expect(ends({}, { records, configuration: { uid: 'abc-123', isDeleting: false } })).toMatchObject({
      do: 'write-status',
    });
  });

  test("waits for somebody else's finalizer, but not for Kubernetes' own", () => {
    expect(ends({ finalizers: [ALLOCATION_FINALIZER, 'infra/in-use'] }, { records })).toEqual({
      do: 'rest',
      why: 'in-use-by-others',
    });
    expect(ends({ finalizers: [ALLOCATION_FINALIZER, 'foregroundDeletion'] }, { records })).toMatchObject({
      do: 'write-status',
    });
  });

  test('one that never had an address loses its finalizer only', () => {
    expect(next(observe({ allocation: { ...PENDING, isDeleting: true } }))).toEqual({ do: 'remove-finalizer' });
    expect(next(observe({ allocation: { ...PENDING, isDeleting: true, finalizers: [] } }))).toEqual({
      do: 'rest',
      why: 'finalizer-stripped',
    });
  });
});

test('point 15: two allocations of one interface have one address each', () => {
  const other = buildAllocationRecord('10.0.2.50', { name: 'another', uid: 'x' });
  expect(next(observe({ allocation: PENDING, others: [other] }))).toEqual({ do: 'take', address: null });
});
