import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { NO_EVENTS } from '#pkg/kube/events/events.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { buildAllocation, buildAllocationRecord, buildNetwork } from '#test/support/build-allocation.ts';
import { GoneConfigurations } from './gone-configurations.ts';
import { VanishedAllocations } from './vanished-allocations.ts';

const KEY = 'datacenter-01/web-server-01-eth0';

interface World {
  readonly isConfigurationThere?: boolean;
  /** The NetworkConfiguration of the IPAllocation that is there. */
  readonly allocationOf?: string;
  readonly ttlSeconds?: number;
}

/** One of the same name, with another uid. */
const allocated = (networkConfigurationName: string) => ({
  metadata: { namespace: 'datacenter-01', name: 'web-server-01-eth0', uid: 'another', resourceVersion: '2' },
  spec: { networkNamespaceName: 'prod-network', networkConfigurationName },
});

function build(world: World) {
  let nowMs = 0;
  const released: string[] = [];
  const now: { -readonly [K in keyof World]: World[K] } = { ttlSeconds: 3_600, ...world };
  const object = { metadata: { namespace: 'datacenter-01', name: 'web-server-01', uid: 'u', resourceVersion: '1' } };
  const client = {
    timing: { nowMs: () => nowMs },
    get: async ({ kind }: { kind: string }) => {
      if (kind === 'IPAllocation' && now.allocationOf !== undefined)
        return { ok: true, object: allocated(now.allocationOf) };
      return kind !== 'IPAllocation' && now.isConfigurationThere === true
        ? { ok: true, object }
        : failure('NotFound', 'gone');
    },
  };
  const record = buildAllocationRecord();
  const deps = {
    client,
    configurations: new GoneConfigurations(client as never, { get: () => null, wrote: () => {} } as never),
    networks: { find: () => ({ network: buildNetwork({ block: { ttlSeconds: now.ttlSeconds } }) }) },
    records: {
      ofHolder: (_: unknown, isOwn: (record: IpRecord) => boolean) =>
        released.length === 0 && isOwn(record) ? [record] : [],
      released: () => {},
    },
    ledger: {
      release: async ({ name }: IpRecord) => {
        released.push(name);
        return { done: true };
      },
    },
    events: NO_EVENTS,
    log: pino({ enabled: false }),
    isLeader: () => true,
  };
  const vanished = new VanishedAllocations(deps as never);
  const look = async (atMs: number) => {
    nowMs = atMs;
    await vanished.look(KEY);
    return released;
  };
  /** When to look again, or undefined. */
  const dueMs = async (atMs: number) => {
    nowMs = atMs;
    return vanished.look(KEY);
  };
  const lookBeside = async (atMs: number, allocation: IpAllocation) => {
    nowMs = atMs;
    await vanished.lookForEarlier(allocation);
    return released;
  };
  return { look, dueMs, lookBeside, now };
}

test('what a vanished allocation held is given back when its NetworkConfiguration has been gone for its whole time', async () => {
  const { look } = build({});
  expect(await look(0)).toEqual([]);
  expect(await look(3_599_000)).toEqual([]);
  expect(await look(3_600_000)).toEqual(['10.0.2.50']);
});

test.each([
  { name: 'while its NetworkConfiguration lives', world: { isConfigurationThere: true } },
  { name: 'without a time to live', world: { ttlSeconds: 0 } },
  { name: 'while the IPAllocation is there after all', world: { allocationOf: 'web-server-01' } },
])('it is kept $name', async ({ world }) => {
  const { look } = build(world);
  expect(await look(0)).toEqual([]);
  expect(await look(7_200_000)).toEqual([]);
});

test('it is looked at again within ten minutes, however long its time is', async () => {
  const { dueMs } = build({ ttlSeconds: 2_592_000 });
  await dueMs(0);
  expect(await dueMs(20_000)).toBe(600_000);
});

test('without a time to live it is looked at again, and given back when its network has got one', async () => {
  const { look, dueMs, now } = build({ ttlSeconds: 0 });
  await dueMs(0);
  expect(await dueMs(20_000)).toBe(600_000);
  now.ttlSeconds = 3_600;
  expect(await look(30_000)).toEqual([]);
  expect(await look(3_630_000)).toEqual(['10.0.2.50']);
});

test('a NetworkConfiguration that comes back at the last moment keeps it', async () => {
  const { look, now } = build({});
  await look(0);
  now.isConfigurationThere = true;
  expect(await look(3_600_000)).toEqual([]);
});

describe('where the name is that of another one now', () => {
  test("of another NetworkConfiguration: the record is nobody else's, and is given back in the same way", async () => {
    const { lookBeside } = build({ allocationOf: 'new' });
    const there = buildAllocation({ uid: 'another', networkConfiguration: 'new' });
    expect(await lookBeside(0, there)).toEqual([]);
    expect(await lookBeside(3_600_000, there)).toEqual(['10.0.2.50']);
  });

  test('of the same NetworkConfiguration: it goes on with the record', async () => {
    const { lookBeside } = build({ allocationOf: 'web-server-01' });
    const there = buildAllocation({ uid: 'another' });
    await lookBeside(0, there);
    expect(await lookBeside(7_200_000, there)).toEqual([]);
  });
});
