import { expect, test } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';
import { buildNetworkNamespace } from '#test/support/build-network-namespace.ts';
import { NetworkPools } from './network-pools.ts';

const NAME = 'datacenter-01/prod-network';

function build(nowMs = () => 0) {
  const listeners = new Listeners<ObjectIdentity>();
  let object: KubeObject | null = null;
  const view = {
    synced: Promise.resolve(),
    get: () => object,
    all: () => (object === null ? [] : [object]),
    onChange: (listener: (at: ObjectIdentity) => void) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {},
  };
  const pools = new NetworkPools(view, { reserved: () => IntervalSet.EMPTY }, { floor: 2 }, nowMs);
  const edits: string[] = [];
  pools.onEdit((name) => edits.push(name));
  const see = (now: KubeObject | null) => {
    object = now;
    listeners.tell({ namespace: 'datacenter-01', name: 'prod-network', uid: 'u' });
    return edits.splice(0);
  };
  return { pools, see };
}

test('a pool stays the same object while only a summary in the status or an annotation of somebody else changes, and that is no edit', () => {
  const { pools, see } = build();
  expect(see(buildNetworkNamespace())).toEqual([NAME]);
  const before = pools.find(NAME)?.facts?.pool;
  const summary = { ipAllocationSummary: { allocatedCount: 15 } };
  expect(see(buildNetworkNamespace({ status: summary, metadata: { resourceVersion: '9' } }))).toEqual([]);
  const noted = { metadata: { annotations: { 'somebody.test/seen': '1' }, resourceVersion: '10' } };
  expect(see(buildNetworkNamespace({ status: summary, ...noted }))).toEqual([]);
  expect(pools.find(NAME)?.facts?.pool).toBe(before);
});

test.each([
  { name: 'another range', change: { block: { ipv4RangeStart: '10.0.2.100' } } },
  { name: 'another phase of its provisioning', change: { status: { provisioningPhase: 'Pending' } } },
  { name: 'a domain', change: { metadata: { annotations: { 'ipledger.io/domain': 'blue' } } } },
  { name: 'its deletion', change: { metadata: { deletionTimestamp: '2026-05-19T09:00:00Z' } } },
])('$name is an edit', ({ change }) => {
  const { pools, see } = build();
  see(buildNetworkNamespace());
  const before = pools.find(NAME)?.network;
  expect(see(buildNetworkNamespace(change))).toEqual([NAME]);
  expect(pools.find(NAME)?.network).not.toBe(before);
});

test('one that is gone is an edit, and has no pool; one without a pool is found all the same', () => {
  const { pools, see } = build();
  see(buildNetworkNamespace());
  expect(see(null)).toEqual([NAME]);
  expect(pools.find(NAME)).toBeNull();
  see(buildNetworkNamespace({ allocation: { type: 'dhcp' } }));
  expect(pools.find(NAME)).toMatchObject({ network: { type: 'dhcp' }, facts: null });
});

test('only those of one namespace are read where one is named', () => {
  const { pools, see } = build();
  see(buildNetworkNamespace());
  expect([...pools.all('datacenter-01')]).toHaveLength(1);
  expect([...pools.all('datacenter-02')]).toEqual([]);
});

test('it is known since when the time of addresses is what it is, whatever else is edited', () => {
  let atMs = 1_000;
  const { pools, see } = build(() => atMs);
  const sinceWhen = (block: object) => {
    see(buildNetworkNamespace({ block }));
    return pools.find(NAME)?.ttlSinceMs;
  };
  expect(sinceWhen({ ttlSeconds: 3_600 })).toBe(1_000);
  atMs = 2_000;
  expect(sinceWhen({ ttlSeconds: 3_600, dns: ['9.9.9.9'] })).toBe(1_000);
  expect(sinceWhen({ ttlSeconds: 600 })).toBe(2_000);
});
