import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { RecordChange } from '#controller/project/records-view.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject, ObjectName, Resource } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { buildPoolFacts } from '#test/support/build-claim.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { type KeepAddressRecordsOptions, keepAddressRecords } from './keep-address-records.ts';

const PATIENCE = { timeout: 20_000, interval: 5 };

/** It shows 10.0.0.1; its claim is not here. */
function addressNamed(name: string): KubeObject {
  return {
    metadata: { namespace: 'prod', name, uid: `uid-of-${name}`, resourceVersion: '1' },
    spec: {
      claimRef: { name },
      poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' },
      address: '10.0.0.1',
      prefix: 24,
    },
  };
}

/** A ledger with at most the record of 10.0.0.1. `answer`: what the API server says to a GET. */
function build(shown: readonly KubeObject[], answer: (kind: Resource, at: ObjectName) => KubeObject | null) {
  const changes = new Listeners<RecordChange>();
  let stored: IpRecord | null = null;
  const store = (next: IpRecord | null) => {
    const before = stored;
    stored = next;
    changes.tell({ before, after: next });
  };
  const [created, told]: [string[], string[]] = [[], []];
  const find = (at: ObjectName) => shown.find(({ metadata }) => keyOf(metadata) === keyOf(at)) ?? null;
  const none = {
    synced: Promise.resolve(),
    get: () => null,
    all: () => [],
    onChange: () => ({ [Symbol.dispose]() {} }),
  };
  const addresses = { ...none, get: find, all: () => shown };
  const options = {
    client: {
      timing: SYSTEM_TIMING,
      get: async (kind: Resource, at: ObjectName) => {
        const object = answer(kind, at);
        return object === null ? failure('NotFound', 'gone') : { ok: true, object };
      },
    },
    log: pino({ enabled: false }),
    events: { emit: ({ reason, regarding }: EmittedEvent) => void told.push(`${reason} ${regarding.name}`) },
    isLeader: () => true,
    now: () => new Date(),
    views: { claims: none, addresses, pools: none, namespaces: none },
    claims: none,
    addresses,
    records: { get: () => stored, wrote: () => {} },
    recordsView: {
      synced: Promise.resolve(),
      onChange: (listener: (it: RecordChange) => void) => changes.add(listener),
    },
    catalog: { find: () => ({ facts: buildPoolFacts({ subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.9'] }) }) },
    ledger: {
      create: async (spec: RecordSpec) => {
        if (stored !== null) return { taken: false, record: stored };
        created.push(spec.holder.name);
        store({ ...buildRecord(), spec });
        return { taken: true, record: stored };
      },
    },
    edits: none,
  };
  const edits = { onEdit: none.onChange };
  const start = () => keepAddressRecords({ ...options, edits } as unknown as KeepAddressRecordsOptions);
  return { start, store, created, told };
}

test('two IPAddresses of one number: each has the record as soon as it is free, in turn', async () => {
  const shown = [addressNamed('vm-0'), addressNamed('vm-1')];
  const { start, store, created, told } = build(shown, (kind, { name }) =>
    kind === IP_ADDRESSES ? (shown.find(({ metadata }) => metadata.name === name) ?? null) : null,
  );
  store(buildRecord({ address: '10.0.0.1' }));
  await using _running = start();
  const untilTold = (names: readonly string[]) =>
    vi.waitFor(() => expect(told.toSorted()).toEqual(names.map((name) => `AddressNotRecorded ${name}`)), PATIENCE);
  await untilTold(['vm-0', 'vm-1']);
  expect(created).toEqual([]);
  store(null);
  await vi.waitFor(() => expect(created).toHaveLength(1), PATIENCE);
  const [first] = created;
  await untilTold(['vm-0', 'vm-1', first === 'vm-0' ? 'vm-1' : 'vm-0'].toSorted());
  // Its machine is gone, and an operator ends both.
  shown.splice(
    shown.findIndex(({ metadata }) => metadata.name === first),
    1,
  );
  store(null);
  await vi.waitFor(() => expect(created).toHaveLength(2), PATIENCE);
  expect(created.toSorted()).toEqual(['vm-0', 'vm-1']);
});

test('no record for an IPAddress that went with its claim while the two were read', async () => {
  let reads = 0;
  const { start, created } = build([addressNamed('vm-0')], (kind) => {
    reads += 1;
    return kind === IP_ADDRESSES && reads === 1 ? addressNamed('vm-0') : null;
  });
  await using running = start();
  await vi.waitFor(() => expect(reads).toBe(3), PATIENCE);
  // Disposing waits for the pass under way.
  await running[Symbol.asyncDispose]();
  expect(created).toEqual([]);
});
