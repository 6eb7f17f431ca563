import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { eventually, poolOf, remove, sure } from './spider-objects.ts';
import {
  asks,
  discard,
  ipsOf,
  lead,
  PATIENCE,
  type SubnetStage,
  sharedBy,
  startSubnetStage,
  toNumber,
  valuesOf,
} from './subnet-stage.ts';

const NUMBER = 'ipam.spidernet.io/ippool-ip-number';

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  return () => stage[Symbol.asyncDispose]();
});

/** The same client with another `create`; `isDead` says that nothing it writes arrives any more. */
function altered(client: KubeClient, create: KubeClient['create'], isDead: () => boolean): KubeClient {
  const killed = async () => failure('Unreachable', 'the process is gone');
  return new Proxy(client, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (isDead() && ['create', 'update', 'patch', 'delete'].includes(String(key))) return killed;
      return key === 'create' ? create : value.bind(target);
    },
  });
}

/** The clock of a leader; what it has dropped, and what a deleted pool had, is free after a minute. */
class LateClock {
  #laterMs = 0;
  readonly now = () => new Date(Date.now() + this.#laterMs);

  passMinute(): void {
    this.#laterMs += 61_000;
  }
}

/** The controller sees the pools that the status of the subnet shows. */
const statusIs = (subnet: string, status: object) =>
  eventually(stage.admin, SUBNETS, { name: subnet }, (object) => expect(object?.['status']).toMatchObject(status));

/** An event of the subnet, so that it is looked at again before the timer of the controller has run out. */
const touch = (subnet: string) =>
  sure(stage.admin.patch(SUBNETS, { name: subnet }, { metadata: { annotations: { touched: String(Date.now()) } } }));

test('a leader is killed between two pools of one application, and the next one makes the other', async () => {
  await stage.subnet('two-a', { subnet: '10.10.0.0/24', ips: ['10.10.0.10-10.10.0.19'] });
  await stage.subnet('two-b', { subnet: '10.10.1.0/24', ips: ['10.10.1.10-10.10.1.19'] });
  const nics = [
    { interface: 'eth0', ipv4: ['two-a'] },
    { interface: 'net1', ipv4: ['two-b'] },
  ];
  let made = 0;
  const client = stage.cluster.controller();
  const dying = altered(
    client,
    (resource, object, options) => {
      if (resource === POOLS) made += 1;
      return client.create(resource, object, options);
    },
    () => made > 0,
  );
  {
    await using _ = await lead(stage, { client: dying });
    await stage.deploy('two', 4, { 'ipam.spidernet.io/subnets': JSON.stringify(nics) });
    await vi.waitFor(async () => expect(await stage.poolsOf('two')).toHaveLength(1), PATIENCE);
    await sleep(500);
  }
  const [first] = await stage.poolsOf('two');
  expect(await stage.poolsOf('two')).toHaveLength(1);
  await using _ = await lead(stage);
  await vi.waitFor(async () => expect(await stage.poolsOf('two')).toHaveLength(2), PATIENCE);
  const pools = await stage.poolsOf('two');
  expect(pools.map(({ metadata }) => metadata.uid)).toContain(first?.metadata.uid);
  expect(pools.map((pool) => valuesOf(pool).length)).toEqual([4, 4]);
  await discard(stage.admin, DEPLOYMENTS, 'two');
  await vi.waitFor(async () => expect(await stage.poolsOf('two')).toEqual([]), PATIENCE);
});

test('two leaders at once make one pool for each application, and no address is in two', async () => {
  await stage.subnet('shared', { subnet: '10.11.0.0/24', ips: ['10.11.0.10-10.11.0.209'] });
  await using _ = await lead(stage);
  await using __ = await lead(stage);
  const names = Array.from({ length: 12 }, (_, i) => `twin-${i}`);
  await Promise.all(names.map((name, i) => stage.deploy(name, 1 + (i % 5), asks('shared'))));
  await Promise.all(names.map((name, i) => stage.poolWith(name, 1 + (i % 5))));
  await Promise.all(names.map((name, i) => stage.scale(name, 12 - i)));
  await Promise.all(names.map((name, i) => stage.poolWith(name, 12 - i)));
  const pools = (await stage.pools()).filter(({ metadata }) => metadata.name.includes('twin'));
  expect(pools).toHaveLength(names.length);
  expect(sharedBy(pools)).toEqual([]);
  await Promise.all(names.map((name) => discard(stage.admin, DEPLOYMENTS, name)));
  await vi.waitFor(async () => {
    for (const name of names) expect(await stage.poolsOf(name)).toEqual([]);
  }, PATIENCE);
});

test('of an auto pool and a manual pool over the same range, made in the same instant, one wins and the other is planned again', async () => {
  await stage.subnet('race', { subnet: '10.12.0.0/24', ips: ['10.12.0.10-10.12.0.29'] });
  const clock = new LateClock();
  await using _ = await lead(stage, clock);
  for (let round = 0; round < 5; round += 1) {
    const name = `racer-${round}`;
    const spec = { subnet: '10.12.0.0/24', ips: ['10.12.0.10-10.12.0.14'] };
    const deployed = stage.deploy(name, 5, asks('race'));
    await sleep(40 + round * 30); // about when the controller plans
    const [manual] = await Promise.all([stage.admin.create(POOLS, poolOf(`manual-${round}`, spec)), deployed]);
    const pool = await stage.poolWith(name, 5);
    const isManualThere = (await stage.pools()).some(({ metadata }) => metadata.name === `manual-${round}`);
    expect(isManualThere).toBe(manual.ok);
    expect(sharedBy(await stage.pools())).toEqual([]);
    expect(ipsOf(pool)).toEqual([manual.ok ? '10.12.0.15-10.12.0.19' : '10.12.0.10-10.12.0.14']);
    await statusIs('race', { allocatedIPCount: manual.ok ? 10 : 5 });
    if (manual.ok) await remove(stage.admin, POOLS, manual.object);
    await discard(stage.admin, DEPLOYMENTS, name);
    await statusIs('race', { allocatedIPCount: 0 });
    clock.passMinute();
  }
});

test('a pool that is deleted before its creator hears that it was made is made again', async () => {
  await stage.subnet('ghost', { subnet: '10.13.0.0/24', ips: ['10.13.0.10-10.13.0.12'] });
  const client = stage.cluster.controller();
  let made: KubeObject | null = null;
  const late = altered(
    client,
    async (resource, object, options) => {
      const outcome = await client.create(resource, object, options);
      if (resource !== POOLS || made !== null || !outcome.ok) return outcome;
      made = outcome.object;
      await remove(stage.admin, POOLS, outcome.object);
      await vi.waitFor(async () => expect(await stage.poolsOf('ghost')).toEqual([]), PATIENCE);
      await sleep(500); // the watch has told it
      return outcome;
    },
    () => false,
  );
  await using _ = await lead(stage, { client: late });
  await stage.deploy('ghost', 3, asks('ghost'));
  await vi.waitFor(() => expect(made).not.toBeNull(), PATIENCE);
  await sleep(1_000);
  const again = await vi.waitFor(() => stage.poolWith('ghost', 3), { timeout: 20_000 });
  expect(again.metadata.uid).not.toBe((made as KubeObject | null)?.metadata.uid);
  await discard(stage.admin, DEPLOYMENTS, 'ghost');
  await vi.waitFor(async () => expect(await stage.poolsOf('ghost')).toEqual([]), PATIENCE);
});

test('scale 5, 50, 5, 0, 5 in seconds while records come and go: no address in two pools, none outside at the end', async () => {
  await stage.subnet('swing', { subnet: '10.14.0.0/24', ips: ['10.14.0.10-10.14.0.79'] });
  await using _ = await lead(stage);
  await stage.deploy('swing', 5, asks('swing'));
  await stage.deploy('against', 5, asks('swing'));
  await stage.poolWith('swing', 5);
  await stage.poolWith('against', 5);
  const agents = new OldViews('swing');
  const shared = new Set<number>();
  for (const [replicas, others] of [
    [50, 1],
    [5, 10],
    [0, 3],
    [5, 8],
  ] as const) {
    await Promise.all([stage.scale('swing', replicas), stage.scale('against', others)]);
    for (let round = 0; round < 12; round += 1) {
      await agents.turn(round);
      for (const value of sharedBy(await stage.pools())) shared.add(value);
      await sleep(50);
    }
  }
  expect([...shared]).toEqual([]);
  expect(agents.held.length).toBeGreaterThan(0);
  await vi.waitFor(async () => {
    const [pool] = await stage.poolsOf('swing');
    const values = pool === undefined ? [] : valuesOf(pool);
    expect(values).toHaveLength(5);
    expect(values).toEqual(expect.arrayContaining(agents.held.map(toNumber)));
    expect(sharedBy(await stage.pools())).toEqual([]);
  }, PATIENCE);
  for (const address of agents.held) await stage.give(address);
  for (const name of ['swing', 'against']) await discard(stage.admin, DEPLOYMENTS, name);
  await vi.waitFor(async () => expect(await stage.poolsOf('swing')).toEqual([]), PATIENCE);
});

/** Agents that give out addresses of the pool as they last saw it, which is not as it is now. */
class OldViews {
  readonly held: string[] = [];
  readonly #application: string;
  #seen: KubeObject | undefined;

  constructor(application: string) {
    this.#application = application;
  }

  async turn(round: number): Promise<void> {
    if (round % 3 === 0) [this.#seen] = await stage.poolsOf(this.#application);
    if (this.held.length > 3) await stage.give(this.held.shift() ?? '');
    const values = this.#seen === undefined ? [] : valuesOf(this.#seen);
    const value = values[(round * 7) % Math.max(values.length, 1)];
    if (this.#seen === undefined || value === undefined) return;
    const address = `10.14.0.${value - toNumber('10.14.0.0')}`;
    if ((await stage.ledger.get(address)) !== null) return;
    await stage.take(address, this.#seen.metadata.name);
    this.held.push(address);
  }
}

test('30 applications on 150 addresses, half scaled up and half down, all deleted: the subnet is whole again', async () => {
  await stage.subnet('full', { subnet: '10.15.0.0/24', ips: ['10.15.0.10-10.15.0.159'] });
  const names = Array.from({ length: 30 }, (_, i) => `full-${i}`);
  {
    await using _ = await lead(stage);
    await Promise.all(names.map((name) => stage.deploy(name, 1, asks('full', { [NUMBER]: '5' }))));
    await Promise.all(names.map((name) => stage.poolWith(name, 5)));
    await statusIs('full', { totalIPCount: 150, allocatedIPCount: 150 });
    await Promise.all(names.map((name, i) => stage.annotate(name, { [NUMBER]: i % 2 === 0 ? '7' : '3' })));
    await Promise.all(names.map((name, i) => (i % 2 === 0 ? null : stage.poolWith(name, 3))));
    // What a pool has just lost goes to nobody else yet.
    await statusIs('full', {
      allocatedIPCount: 120,
      conditions: [{ type: 'Ready' }, { type: 'Insufficient', status: 'True' }],
    });
  }
  const clock = new LateClock();
  clock.passMinute();
  await using _ = await lead(stage, clock);
  await Promise.all(names.map((name, i) => stage.poolWith(name, i % 2 === 0 ? 7 : 3)));
  expect(sharedBy(await stage.pools())).toEqual([]);
  await statusIs('full', {
    allocatedIPCount: 150,
    conditions: [{ type: 'Ready' }, { type: 'Insufficient', status: 'False' }],
  });
  await Promise.all(names.map((name) => discard(stage.admin, DEPLOYMENTS, name)));
  await statusIs('full', { totalIPCount: 150, allocatedIPCount: 0 });
  await stage.deploy('all', 150, asks('full'));
  // Nor does what a deleted pool had.
  await statusIs('full', {
    allocatedIPCount: 0,
    conditions: [{ type: 'Ready' }, { type: 'Insufficient', status: 'True' }],
  });
  clock.passMinute();
  await touch('full');
  expect(ipsOf(await stage.poolWith('all', 150))).toEqual(['10.15.0.10-10.15.0.159']);
  await discard(stage.admin, DEPLOYMENTS, 'all');
  await statusIs('full', { totalIPCount: 150, allocatedIPCount: 0 });
});

test('a subnet that is too small changes nothing, says required and left, and is tried again when something is freed', async () => {
  await stage.subnet('small', { subnet: '10.16.0.0/24', ips: ['10.16.0.10-10.16.0.19'] });
  const spec = { subnet: '10.16.0.0/24', ips: ['10.16.0.15-10.16.0.19'] };
  const manual = await sure(stage.admin.create(POOLS, poolOf('manual-small', spec)));
  const clock = new LateClock();
  await using led = await lead(stage, clock);
  await stage.deploy('small', 3, asks('small'));
  await stage.poolWith('small', 3);
  await stage.scale('small', 8);
  await vi.waitFor(
    () => expect(led.told.map(({ note }) => note).join('\n')).toMatch(/required 5 more for 8 in all, left 2/),
    PATIENCE,
  );
  expect(ipsOf(await stage.poolWith('small', 3))).toEqual(['10.16.0.10-10.16.0.12']);
  await remove(stage.admin, POOLS, manual);
  await statusIs('small', { allocatedIPCount: 3 });
  clock.passMinute();
  await touch('small');
  expect(ipsOf(await stage.poolWith('small', 8))).toEqual(['10.16.0.10-10.16.0.17']);
  await discard(stage.admin, DEPLOYMENTS, 'small');
});
