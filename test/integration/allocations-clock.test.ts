import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { type TurnedClock, turnedClock } from '#test/support/turned-clock.ts';
import { type AllocationStage, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';
import { deaths, leadUntilDead } from './mortal-leader.ts';
import { sure } from './spider-objects.ts';

let stage: AllocationStage;
let hands: ReturnType<typeof machineHands>;
let clock: TurnedClock;

beforeAll(async () => {
  stage = await startAllocationStage();
  hands = machineHands(stage);
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  await stage.clear();
  clock = turnedClock();
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ttlSeconds: 60 });
  await sure(stage.admin.create(RESERVED_IPS, { metadata: { name: 'poke' }, spec: { ips: ['10.0.2.250'] } }));
});

const HOUR_MS = 3_600_000;
const at = (name: string) => ({ namespace: NAMESPACE, name });
const expiryMs = async (name: string) => Date.parse(String((await stage.served(name))['expiresAt']));
/** All allocations are looked at after a change of a SpiderReservedIP. */
const lookAtAll = () =>
  sure(
    stage.admin.patch(RESERVED_IPS, { name: 'poke' }, { metadata: { annotations: { at: `${performance.now()}` } } }),
  );

/** While `run` lasts, the clock goes on by that much, again and again; more and more rarely, because the time of requests goes on too. */
async function whileTimePasses(ms: number, run: () => Promise<unknown>): Promise<void> {
  let isOver = false;
  const passing = (async () => {
    for (let pauseMs = 1_500; !isOver; pauseMs = Math.min(pauseMs * 1.5, 10_000)) {
      clock.turn(ms);
      await lookAtAll();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  })();
  try {
    await run();
  } finally {
    isOver = true;
    await passing;
  }
}

/** Its NetworkConfiguration is gone, and the allocation lives on. */
async function outlive(name: string): Promise<void> {
  await stage.remove(await stage.configuration(name), NETWORK_CONFIGURATIONS);
  await hands.untilGone(NETWORK_CONFIGURATIONS, name);
  await stage.says(name, 'Allocated', /is gone: the address is given back after/);
}

async function serve(name: string, after: () => Promise<unknown> = async () => {}): Promise<void> {
  await using _leader = hands.leadAt(clock);
  await stage.allocation(name);
  await stage.served(name);
  await after();
}

describe('a leader that is killed and followed by another one', () => {
  test.each(deaths([1]))('$when write $write of a renewal: the time goes on, the address stays', async (death) => {
    await serve('vm');
    const before = await expiryMs('vm');
    await whileTimePasses(40_000, () => leadUntilDead(stage, death, async () => {}, clock));
    await whileTimePasses(40_000, async () => {
      await using _next = hands.leadAt(clock);
      await vi.waitFor(async () => expect(await expiryMs('vm')).toBeGreaterThan(before + 80_000), PATIENCE);
    });
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
    expect(await stage.records()).toEqual(['10.0.2.50']);
  });

  // The annotation with the address, Released, the record.
  test.each(deaths([1, 2, 3]))(
    '$when write $write of a time that is over: the address is given back once, and asked for again',
    async (death) => {
      await serve('vm', () => outlive('vm'));
      clock.turn(HOUR_MS);
      await whileTimePasses(61_000, () => leadUntilDead(stage, death, async () => {}, clock));
      await using _next = hands.leadAt(clock);
      await whileTimePasses(61_000, async () => {
        await stage.says('vm', 'Released', /10\.0\.2\.50 was given back/);
        await hands.untilRecords([]);
      });
      expect((await stage.get('vm')).metadata.annotations).toMatchObject({ 'ipledger.io/last-address': '10.0.2.50' });
      // It is the second lowest now that the first one is another's.
      await stage.allocation('other', { spec: { requestedAddress: '10.0.2.51' } });
      await stage.served('other');
      await stage.configuration('vm');
      expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
    },
  );

  // The record gets the uid of the new one, then its metadata and its status.
  test.each(deaths([1, 2, 3]))(
    '$when write $write for one that follows a vanished one: it goes on with the address',
    async (death) => {
      await serve('vm', async () => {
        const finalizers = ['a.test/hold', ALLOCATION_FINALIZER];
        const held = await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { finalizers } }));
        await stage.remove(held);
      });
      await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { finalizers: null } }));
      await stage.untilGone('vm');
      await leadUntilDead(stage, death, () => stage.allocation('vm'), clock);
      await using _next = hands.leadAt(clock);
      expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
      const [record, ...others] = await stage.ledger.list({ limit: 10 });
      expect(others).toEqual([]);
      expect(record?.spec.holder.uid).toBe((await stage.get('vm')).metadata.uid);
    },
  );

  test.each(deaths([1]))('$when write $write for one with two records: that of its status stays', async (death) => {
    await serve('vm');
    const [record] = await stage.ledger.list({ limit: 10 });
    const { spec } = record ?? expect.unreachable();
    await stage.ledger.create({ ...spec, address: '10.0.2.49' });
    await leadUntilDead(stage, death, async () => {}, clock);
    await using _next = hands.leadAt(clock);
    await hands.untilRecords(['10.0.2.50']);
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  });

  // Pending, the record, Allocated.
  test.each(deaths([1, 2, 3]))('$when write $write of the way from Error to Allocated: one record', async (death) => {
    const { record } = await stage.ledger.create(specOf('10.0.2.77'));
    {
      await using _leader = hands.leadAt(clock);
      await stage.allocation('vm', { spec: { requestedAddress: '10.0.2.77' } });
      await stage.says('vm', 'Error', /is held by Pod/);
    }
    await stage.ledger.release(record ?? expect.unreachable());
    await leadUntilDead(stage, death, async () => {}, clock);
    await using _next = hands.leadAt(clock);
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.77' });
    expect(await stage.records()).toEqual(['10.0.2.77']);
  });
});

test.each([
  { name: 'shorter', ttlSeconds: 600 },
  { name: 'longer', ttlSeconds: 36_000 },
])(
  'a time that is made $name is no reason to write all at once: each has it after its own moment',
  async ({ ttlSeconds }) => {
    const COUNT = 40;
    const edit = (block: object) =>
      sure(stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), { spec: { ipAllocation: { static: block } } }));
    const statusWrites = () =>
      stage.cluster.server.requestCount({ verb: 'PATCH', resource: 'ipallocations', subresource: 'status' });
    const leftSeconds = async (name: string) => ((await expiryMs(name)) - clock.now().getTime()) / 1_000;
    await edit({ ttlSeconds: 3_600 });
    await using _leader = hands.leadAt(clock);
    const names = Array.from({ length: COUNT }, (_, index) => `vm-${index}`);
    for (const name of names) await stage.allocation(name);
    for (const name of names) await stage.served(name);
    // From a quarter of its time on, each has one moment in 1,800 s: the leader has led through all of them.
    clock.turn(2_702_000);
    for (const name of names)
      await vi.waitFor(async () => expect(await leftSeconds(name)).toBeGreaterThan(3_000), PATIENCE);

    const before = await statusWrites();
    await edit({ ttlSeconds });
    await stage.allocation('later');
    await vi.waitFor(
      async () => expect(Math.abs((await leftSeconds('later')) - ttlSeconds)).toBeLessThan(120),
      PATIENCE,
    );
    await lookAtAll();
    await stage.allocation('last');
    await stage.served('last');
    expect((await statusWrites()) - before).toBeLessThan(COUNT / 2);
    clock.turn(1_000 * (ttlSeconds / 2 + 1));
    for (const name of names) {
      await vi.waitFor(
        async () => expect(Math.abs((await leftSeconds(name)) - ttlSeconds)).toBeLessThan(120),
        PATIENCE,
      );
    }
  },
);

describe.each([
  { name: 'forward', byMs: HOUR_MS },
  { name: 'back', byMs: -HOUR_MS },
])('a clock that is set $name by an hour', ({ byMs }) => {
  test('under one leader takes nothing from a machine, and its time is right again after half of it', async () => {
    // Only the clock is set; the time since the start of the process goes on.
    await using _leader = stage.lead({ now: clock.now });
    await stage.allocation('vm');
    await stage.served('vm');
    clock.turn(byMs);
    await lookAtAll();
    await vi.waitFor(async () => {
      const leftMs = (await expiryMs('vm')) - clock.now().getTime();
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThanOrEqual(60_000);
    }, PATIENCE);
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
    expect(await stage.records()).toEqual(['10.0.2.50']);
  });

  test('gives nothing back before its NetworkConfiguration was looked for twice', async () => {
    await using _leader = stage.lead({ now: clock.now });
    await stage.allocation('vm');
    await stage.served('vm');
    await outlive('vm');
    clock.turn(byMs);
    await lookAtAll();
    // What is served after that was looked at later.
    await stage.allocation('later');
    await stage.served('later');
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
    expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
  });

  test('between two leaders: the next one goes on with address and time', async () => {
    await serve('vm');
    clock.turn(byMs);
    await using _next = hands.leadAt(clock);
    await stage.allocation('other');
    expect(await stage.served('other')).toMatchObject({ address: '10.0.2.51' });
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
    expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
  });
});
