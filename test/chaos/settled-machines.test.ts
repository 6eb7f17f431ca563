import { expect, test } from 'vitest';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import type { ApiObject } from './chaos-api.ts';
import type { SeenRecord } from './referee.ts';
import { judgeMachines, type MachineWorld } from './settled-machines.ts';

type Parts = Pick<ApiObject, 'spec' | 'status'>;

const ENDING = { deletionTimestamp: '2026-11-19T01:00:00Z' };

function objectOf(name: string, uid: string, parts: Parts, metadata: object = {}): ApiObject {
  return { metadata: { namespace: 'machines', name, uid, ...metadata }, ...parts };
}

function claim(name: string, reason: string, metadata: object = {}): ApiObject {
  const conditions = [{ type: 'Ready', reason, message: 'a message' }];
  return objectOf(name, `of-${name}`, { spec: { poolRef: { name: 'lab' } }, status: { conditions } }, metadata);
}

function ipAddress(name: string, address: string): ApiObject {
  const ownerReferences = [{ kind: 'IPAddressClaim', name, uid: `of-${name}` }];
  return objectOf(name, `address-of-${name}`, { spec: { address } }, { ownerReferences });
}

function allocation(interfaceName: string, status: Parts['status'], spec: object = {}): ApiObject {
  const own = { networkNamespaceName: 'prod', networkConfigurationName: 'nc', interfaceName, ...spec };
  return objectOf(`nc-${interfaceName}`, `of-nc-${interfaceName}`, { spec: own, ...(status && { status }) });
}

const ALLOCATED = { phase: 'Allocated', address: '10.0.2.50' };
const EXHAUSTED = { phase: 'Error', message: 'exhausted' };

function configuration(phase: string, addresses: readonly string[]): ApiObject {
  const networkInterfaces = [{ name: 'eth0', ipv4Addresses: addresses }];
  return objectOf('nc', 'of-nc', {
    spec: { networkInterfaces: [{ name: 'eth0' }] },
    status: { phase, networkInterfaces },
  });
}

function network(allocatedCount: number, availableCount: number, totalCount: number): ApiObject {
  const block = { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.51' };
  const ipAllocationSummary = { allocatedCount, availableCount, totalCount };
  return objectOf('prod', 'n1', { spec: { ipAllocation: { static: block } }, status: { ipAllocationSummary } });
}

function recordOf(address: string, holder: object, pool: string): SeenRecord {
  const spec = specOf(address, { pool: { kind: 'SpiderIPPool', name: pool, uid: 'p' } });
  return { metadata: { name: address }, spec: heldBy(spec, { namespace: 'machines', ...holder }) } as SeenRecord;
}

const OF_CLAIM = recordOf('10.0.0.5', { kind: 'IPAddressClaim', name: 'vm-0', uid: 'of-vm-0' }, 'lab');
const OF_ALLOCATION = recordOf(
  '10.0.2.50',
  { kind: 'IPAllocation', name: 'nc-eth0', uid: 'of-nc-eth0' },
  'machines/prod',
);
const OF_POD = recordOf('10.0.2.51', { kind: 'Pod', name: 'web', uid: 'p1' }, 'pods');

/** A claim and an IPAllocation with their addresses; the pool of the claim is full, and a pod has the other one of the network. */
const IN_ORDER: MachineWorld = {
  records: [OF_CLAIM, OF_ALLOCATION, OF_POD],
  pools: [{ metadata: { name: 'lab', uid: 'p' }, spec: { ips: ['10.0.0.5'] } }],
  claims: [claim('vm-0', 'Ready')],
  ipAddresses: [ipAddress('vm-0', '10.0.0.5')],
  allocations: [allocation('eth0', ALLOCATED)],
  configurations: [configuration('Ready', ['10.0.2.50'])],
  networks: [network(1, 0, 1)],
};

function judge(change: Partial<MachineWorld>): string[] {
  return judgeMachines({ ...IN_ORDER, ...change });
}

test('machines that have their addresses are in order, and those that wait for an address of a full pool', () => {
  expect(judge({})).toEqual([]);
  expect(judge({ claims: [...IN_ORDER.claims, claim('vm-1', 'PoolExhausted')] })).toEqual([]);
  expect(judge({ allocations: [...IN_ORDER.allocations, allocation('eth1', EXHAUSTED)] })).toEqual([]);
  const asking = allocation('eth1', EXHAUSTED, { requestedAddress: '10.0.2.51' });
  expect(judge({ allocations: [...IN_ORDER.allocations, asking] })).toEqual([]);
});

const LARGE_POOL = [{ metadata: { name: 'lab', uid: 'p' }, spec: { ips: ['10.0.0.5-10.0.0.6'] } }];

test.each<{ name: string; change: Partial<MachineWorld>; said: string }>([
  {
    name: 'a claim that waits although an address is free',
    change: { pools: LARGE_POOL, claims: [...IN_ORDER.claims, claim('vm-1', 'PoolExhausted')] },
    said: 'PoolExhausted: a message, and 1 addresses of pool lab are free',
  },
  {
    name: 'a claim that says nothing',
    change: { claims: [...IN_ORDER.claims, objectOf('vm-1', 'c2', { spec: { poolRef: { name: 'lab' } } })] },
    said: 'claim machines/vm-1 says nothing',
  },
  {
    name: 'a claim that has an address and is not Ready',
    change: { claims: [claim('vm-0', 'PoolExhausted')] },
    said: 'and has 10.0.0.5',
  },
  {
    name: 'a claim that is still being deleted',
    change: { claims: [claim('vm-0', 'Ready', ENDING)] },
    said: 'machines/vm-0 (of-vm-0) is still being deleted',
  },
  {
    name: 'an IPAddress whose claim is gone',
    change: { claims: [], records: [OF_ALLOCATION, OF_POD] },
    said: 'IPAddress machines/vm-0 is left without its claim',
  },
  {
    name: 'the record of a claim that is gone',
    change: { claims: [], ipAddresses: [] },
    said: 'leak: 10.0.0.5 Allocated of IPAddressClaim machines/vm-0',
  },
  {
    name: 'the record of an IPAllocation that is gone',
    change: { allocations: [], configurations: [] },
    said: 'leak: 10.0.2.50 Allocated of IPAllocation machines/nc-eth0',
  },
  {
    name: 'a second record of a claim',
    change: {
      records: [...IN_ORDER.records, recordOf('10.0.0.9', { kind: 'IPAddressClaim', uid: 'of-vm-0' }, 'lab')],
    },
    said: 'leak: 10.0.0.9',
  },
  {
    name: 'a lost record of a claim',
    change: { records: [OF_ALLOCATION, OF_POD] },
    said: '10.0.0.5 is shown for IPAddressClaim machines/vm-0 and has no Allocated record',
  },
  {
    name: 'an IPAllocation that waits although an address is free',
    change: {
      records: [OF_CLAIM, OF_ALLOCATION],
      networks: [network(1, 1, 2)],
      allocations: [...IN_ORDER.allocations, allocation('eth1', EXHAUSTED)],
    },
    said: 'says Error: exhausted, and 1 addresses of 10.0.2.50-10.0.2.51 are free',
  },
  {
    name: 'an IPAllocation that does not get the free address it asks for',
    change: {
      records: [OF_CLAIM, OF_ALLOCATION],
      networks: [network(1, 1, 2)],
      allocations: [...IN_ORDER.allocations, allocation('eth1', EXHAUSTED, { requestedAddress: '10.0.2.51' })],
    },
    said: 'and 1 addresses of 10.0.2.51 are free',
  },
  {
    name: 'an IPAllocation without a word',
    change: { allocations: [...IN_ORDER.allocations, allocation('eth1', { phase: 'Error' })] },
    said: 'IPAllocation machines/nc-eth1 says Error',
  },
  {
    name: 'a NetworkConfiguration without its IPAllocation',
    change: { allocations: [], records: [OF_CLAIM, OF_POD], networks: [network(0, 1, 1)] },
    said: 'and has 0 of 1 IPAllocations',
  },
  {
    name: 'a NetworkConfiguration that is not Ready with all addresses',
    change: { configurations: [configuration('Pending', [])] },
    said: 'NetworkConfiguration machines/nc says Pending',
  },
  {
    name: 'a NetworkConfiguration that shows another address',
    change: { configurations: [configuration('Ready', ['10.0.2.51'])] },
    said: 'and shows 10.0.2.51 instead of 10.0.2.50',
  },
  {
    name: 'a NetworkNamespace that counts wrong',
    change: { networks: [network(1, 1, 2)] },
    said: 'NetworkNamespace machines/prod counts 1 + 1 + 2 instead of 1 + 0 + 1',
  },
])('$name is an error', ({ change, said }) => {
  expect(judge(change)).toEqual(expect.arrayContaining([expect.stringContaining(said)]));
});
