import { expect, test } from 'vitest';
import { readTestNames } from './test-names.ts';

/** What Vitistack's page "IPAllocation" says, in its order and in its words, and the test on a real API server that shows it. */
const SENTENCES: readonly (readonly [sentence: string, test: string])[] = [
  [
    'The IPAllocation CRD represents a single IP address allocation within a NetworkNamespace.',
    'the CRD represents a single IP address allocation within a NetworkNamespace',
  ],
  [
    'It replaces the inline allocatedIPs array from v1alpha1, making each allocation a first-class Kubernetes resource with its own lifecycle.',
    'it replaces the inline allocatedIPs array from v1alpha1, making each allocation a first-class',
  ],
  ['vitistack.io/v1alpha2: Current', 'API version vitistack.io/v1alpha2 is current'],
  [
    'IPAllocation is a new resource introduced in v1alpha2. It does not exist in v1alpha1.',
    'IPAllocation is new in v1alpha2, and does not exist in v1alpha1',
  ],
  [
    'One resource per allocation: each IP address gets its own IPAllocation CR, enabling fine-grained status tracking and garbage collection.',
    'one resource per allocation: each IP address gets its own IPAllocation',
  ],
  [
    'Each IPAllocation is owned (via ownerReferences) by its parent NetworkConfiguration, so it is automatically garbage-collected when the NC is deleted.',
    'owner references: each IPAllocation is owned by its NetworkConfiguration',
  ],
  [
    'Standard labels enable efficient listing by NetworkNamespace or NetworkConfiguration without scanning all resources.',
    'label-based lookups: the standard labels list by NetworkNamespace or NetworkConfiguration',
  ],
  ['The resource definition: fields of spec, required and optional.', 'spec.$field as $value: accepted is $isAccepted'],
  ['The resource definition: fields of status.', 'status.$field is $right, and not $wrong'],
  [
    '[*] --> Pending: IPAllocation created; Pending --> Allocated: Address assigned',
    'Pending: IPAllocation created; Pending to Allocated: address assigned',
  ],
  [
    'Pending --> Error: Pool exhausted / conflict; Error --> Pending: Reconcile retry',
    'Pending to Error: $name; Error to Pending: reconcile retry',
  ],
  [
    'Allocated --> Released: NetworkConfiguration deleted; Released --> [*]: Garbage collected',
    'Allocated to Released: NetworkConfiguration deleted; Released to the end',
  ],
  ['Pending: Allocation requested but not yet fulfilled.', 'Pending: allocation requested but not yet fulfilled'],
  [
    'Allocated: IP address successfully assigned. status.address is populated.',
    'Allocated: IP address successfully assigned, status.address is populated',
  ],
  [
    'Released: The allocation has been released (NC deleted). Will be garbage-collected.',
    'Released: the allocation has been released because the NetworkConfiguration is deleted',
  ],
  [
    'Error: Allocation failed. See status.message for details.',
    'Error: allocation failed, see status.message for details',
  ],
  [
    'Typical Allocation (created by static-ip-operator)',
    'typical allocation: as published it gets the published status',
  ],
  ['Requesting a Specific Address', 'requesting a specific address: as published it gets 10.0.2.100'],
  [
    'The allocator will honor the request if the address is within the pool range and not already allocated.',
    'the allocator honors the request if the address is within the pool range and not already allocated',
  ],
  [
    'IPAllocation resources carry standard labels for efficient querying.',
    'IPAllocations carry the standard labels for efficient querying',
  ],
  [
    'Listing Allocations by NetworkNamespace, by NetworkConfiguration',
    "the published kubectl get commands print the page's columns",
  ],
  [
    'static-ip-operator watches NetworkConfiguration resources. When a NC references a NetworkNamespace with static allocation, creates an IPAllocation CR.',
    'it watches NetworkConfigurations, and for one that references a static NetworkNamespace it creates an IPAllocation',
  ],
  [
    'Allocates the next available IP from the pool (or the requested address)',
    'it allocates the next available IP from the pool, or the requested address',
  ],
  [
    'Updates status.phase to Allocated with the assigned address details',
    'it updates status.phase to Allocated with the assigned address details',
  ],
  ['Handles TTL expiry and re-allocation', 'it handles TTL expiry and re-allocation'],
  [
    'kea-operator does not create IPAllocation resources. The aggregate counts are computed from Kea lease data.',
    'for DHCP no IPAllocation is created, and the counts that are computed from Kea leases are left alone',
  ],
  [
    'The IPAllocationSummary in NetworkNamespace.status provides aggregate counts computed from individual IPAllocation resources.',
    'the summary provides aggregate counts computed from individual IPAllocations',
  ],
  [
    'This is a read-only projection: the source of truth is the set of IPAllocation CRs.',
    'it is a read-only projection: the source of truth is the set of IPAllocations',
  ],
];

test('each sentence of the page of IPAllocation has a test of its words on a real API server, in the order of the page', () => {
  const inGroups = readTestNames('test/integration/vitistack-page.test.ts').filter(({ depth }) => depth === 1);
  const titles = inGroups.map(({ name }) => name);
  const places = SENTENCES.map(
    ([sentence, title]) => [sentence, titles.findIndex((it) => it.includes(title))] as const,
  );
  expect(places.filter(([, place]) => place < 0)).toEqual([]);
  const order = places.map(([, place]) => place);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  // And no test there that stands for no sentence.
  expect(new Set(order).size).toBe(titles.length);
});
