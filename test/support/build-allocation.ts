import type { ObservedAllocation } from '#controller/allocation-plan/observed-allocation.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { type NetworkNamespace, readNetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { ALLOCATION_FINALIZER, allocationLabels, configurationOwner } from '#pkg/vitistack/vitistack-names.ts';
import { buildNetworkNamespace } from './build-network-namespace.ts';
import { buildRecord } from './build-record.ts';

type Parts = Parameters<typeof buildNetworkNamespace>[0];

/** The IPAllocation of the published example: seen by us, and still without an address. */
export function buildAllocation(change: Partial<IpAllocation> = {}): IpAllocation {
  const object: KubeObject = {
    metadata: {
      namespace: 'datacenter-01',
      name: 'web-server-01-eth0',
      uid: 'allocation-uid',
      resourceVersion: '7',
      generation: 1,
      creationTimestamp: '2026-05-19T08:30:00Z',
      labels: allocationLabels('prod-network', 'web-server-01'),
      finalizers: [ALLOCATION_FINALIZER],
      ownerReferences: [configurationOwner('web-server-01', 'abc-123')],
    },
    spec: { networkNamespaceName: 'prod-network', networkConfigurationName: 'web-server-01', interfaceName: 'eth0' },
  };
  const read = readIpAllocation(object);
  if (read === null) throw new Error('the example cannot be read');
  return { ...read, ...change };
}

/** `status` as it is stored. */
export function withStatus(
  status: Readonly<Record<string, unknown>>,
  change: Partial<IpAllocation> = {},
): IpAllocation {
  const metadata = {
    namespace: 'datacenter-01',
    name: 'web-server-01-eth0',
    uid: 'allocation-uid',
    resourceVersion: '7',
  };
  const spec = { networkNamespaceName: 'prod-network', networkConfigurationName: 'web-server-01' };
  const read = readIpAllocation({ metadata, spec, status });
  return buildAllocation({
    status,
    phase: read?.phase ?? null,
    shownAddress: read?.shownAddress ?? null,
    ...change,
  });
}

export const GIVEN = {
  phase: 'Allocated',
  address: '10.0.2.50',
  gateway: '10.0.2.1',
  prefix: 24,
  vlanId: 100,
  dns: ['8.8.8.8', '8.8.4.4'],
  expiresAt: '2026-05-19T10:00:00Z',
} as const;

export function buildNetwork(parts: Parts = {}): NetworkNamespace {
  const read = readNetworkNamespace(buildNetworkNamespace(parts), { floor: 2 });
  if (read === null) throw new Error('the example cannot be read');
  return read;
}

export function buildAllocationRecord(address = '10.0.2.50', holder: Partial<Holder> = {}): IpRecord {
  const owner = { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'web-server-01' };
  const own: Holder = {
    kind: 'IPAllocation',
    namespace: 'datacenter-01',
    name: 'web-server-01-eth0',
    uid: 'allocation-uid',
    interface: '',
    attachGeneration: 1,
    node: '',
    owner,
    ...holder,
  };
  const pool = { kind: 'NetworkNamespace', name: 'datacenter-01/prod-network', uid: 'uid-of-prod-network' } as const;
  const record = buildRecord({ address, prefix: 24, pool });
  return { ...record, spec: { ...record.spec, pool, holder: own } };
}

interface ObservedWish extends Partial<Omit<ObservedAllocation, 'network' | 'recordAt' | 'facts'>> {
  readonly network?: Parts | null;
  readonly reserved?: string;
  /** Records of others. */
  readonly others?: readonly IpRecord[];
}

/** Nothing stands in the way, and nothing has been taken yet. */
export function observeAllocation({
  network,
  reserved,
  others = [],
  ...change
}: ObservedWish = {}): ObservedAllocation {
  const built = network === null ? null : buildNetwork(network);
  const pool = built?.network?.pool ?? null;
  const taken = [...others, ...(change.records ?? [])];
  const held = reserved === undefined ? null : parseAddress(reserved).value;
  return {
    allocation: buildAllocation(),
    network: built,
    facts:
      built === null || pool === null
        ? null
        : {
            name: built.poolName,
            generation: 1,
            pool,
            problem: null,
            overlap: null,
            subnetOverlap: null,
            reserved: held === null ? IntervalSet.EMPTY : IntervalSet.of([{ first: held, last: held }]),
          },
    configuration: { uid: 'abc-123', isDeleting: false },
    configurationGoneMs: null,
    records: [],
    recordAt: ({ value }) => taken.find(({ spec }) => parseAddress(spec.address).value === value) ?? null,
    isVanished: () => false,
    room: { hasFree: true, total: 253n, holders: () => '' },
    otherDomain: null,
    hold: null,
    isRefused: false,
    evenSince: new Date('2026-05-19T08:00:00Z'),
    ...change,
  };
}
