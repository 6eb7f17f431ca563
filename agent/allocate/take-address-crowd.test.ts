import { expect, test } from 'vitest';
import { NO_METRICS } from '#agent/report/agent-metrics.ts';
import { PoolView } from '#agent/views/pool-view.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Ledger, TakenAddress } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { takeAddress } from './take-address.ts';

const HOLDER = specOf('10.0.1.0').holder;
const IN_FLIGHT = 10;
/** All pods of a node at once. */
const BURST = 250;

/** Turns of the event loop instead of time: what is slow here is slow in every run alike. */
async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function callOf() {
  const signal = new AbortController().signal;
  return { begunAtMs: 0, arrivedAtMs: 0, deadlineMs: 60_000, signal };
}

/** A ledger at a distance: a create arrives some turns after it was sent, its answer later still. */
class DistantLedger {
  readonly #ledger = createMemoryLedger();
  readonly #random: (below: number) => number;
  lost = 0;
  reads = 0;

  constructor(random: (below: number) => number) {
    this.#random = random;
  }

  readonly create: Ledger['create'] = async (spec) => {
    await pass(10 + this.#random(20));
    const outcome = await this.#ledger.create(spec);
    if (!outcome.taken) this.lost += 1;
    await pass(5);
    return outcome;
  };

  async release(record: IpRecord): Promise<void> {
    await this.#ledger.release(record);
  }

  async takenOf(pool: string): Promise<readonly TakenAddress[]> {
    this.reads += 1;
    await pass(1 + this.#random(3));
    const taken = await this.#ledger.takenOf(pool);
    await pass(3 + this.#random(4));
    return taken;
  }
}

/** Nodes with a view each of one pool. */
function buildCrowd(seed: number, size: number, nodes: number) {
  const ledger = new DistantLedger(randomOf(seed));
  const lastIp = formatAddress({ family: 4, value: parseAddress('10.0.1.0').value + BigInt(size - 1) });
  const pool = buildPool({ name: `pool-${seed}`, subnet: '10.0.0.0/16', ips: [`10.0.1.0-${lastIp}`] });
  const load = () => ledger.takenOf(pool.name);
  const views = Array.from(
    { length: nodes },
    (_, at) => new PoolView(pool, { reserved: IntervalSet.EMPTY, node: `worker-${at}`, load, secondLookMs: 60_000 }),
  );
  let asked = 0;
  const take = async (at: number): Promise<IpRecord> => {
    asked += 1;
    const name = `pod-${asked}`;
    const holder = { ...HOLDER, uid: name, name, containerID: name, node: `worker-${at}` };
    const record = await takeAddress(views[at] as PoolView, {
      call: callOf(),
      ledger: ledger as unknown as Ledger,
      failpoint: () => {},
      nowMs: () => 0,
      metrics: NO_METRICS,
      holder,
      cleanGateway: false,
      routes: [],
    });
    if (record === null) throw new Error('nothing was free');
    expect(pool.addresses.contains(parseAddress(record.spec.address).value)).toBe(true);
    return record;
  };
  const giveBack = async (at: number, record: IpRecord) => {
    await ledger.release(record);
    views[at]?.markFree(parseAddress(record.spec.address).value);
  };
  return { ledger, take, giveBack };
}

interface Filling {
  readonly seed: number;
  readonly size: number;
  /** How many addresses each of the nodes takes before all of them go on. */
  readonly step: readonly number[];
  readonly inFlight?: number;
}

/** Nodes that take all of a pool, step by step; tells of each step what was lost and read in it. */
async function takeAll({ seed, size, step, inFlight = IN_FLIGHT }: Filling) {
  const { ledger, take } = buildCrowd(seed, size, step.length);
  const taken = new Set<string>();
  const steps: { readonly lost: number; readonly reads: number }[] = [];
  const inStep = step.reduce((sum, it) => sum + it, 0);
  while (taken.size < size) {
    const { lost, reads } = ledger;
    await Promise.all(
      step.map(async (count, at) => {
        let left = count;
        const takeSome = async () => {
          while (left > 0) {
            left -= 1;
            taken.add((await take(at)).name);
          }
        };
        await Promise.all(Array.from({ length: inFlight }, takeSome));
      }),
    );
    steps.push({ lost: ledger.lost - lost, reads: ledger.reads - reads });
    expect(taken.size).toBe(steps.length * inStep);
  }
  return { steps, lost: ledger.lost };
}

test.each([1, 2, 3, 4, 5, 6])(
  'four nodes take all of 1,000 addresses, each once, and lose at most 60 creates (seed %i)',
  async (seed) => {
    expect((await takeAll({ seed, size: 1_000, step: [250, 250, 250, 250] })).lost).toBeLessThanOrEqual(60);
  },
);

test.each([1, 2, 3])(
  'four nodes with 250 calls at once each take all of 1,000 addresses and lose at most 60 creates (seed %i)',
  async (seed) => {
    const filling = { seed, size: 1_000, step: [250, 250, 250, 250], inFlight: BURST };
    expect((await takeAll(filling)).lost).toBeLessThanOrEqual(60);
  },
);

test.each([1, 2, 3, 4, 5, 6])(
  'the last 200 of 2,000 addresses cost four nodes at most 10 lost creates and 4 reads (seed %i)',
  async (seed) => {
    const last = (await takeAll({ seed, size: 2_000, step: [50, 50, 50, 50] })).steps.at(-1);
    expect(last?.lost).toBeLessThanOrEqual(10);
    expect(last?.reads).toBeLessThanOrEqual(4);
  },
);

test.each([1, 2, 3])('nodes with unequal needs take all of 2,000 addresses, each once (seed %i)', async (seed) => {
  expect((await takeAll({ seed, size: 2_000, step: [10, 20, 30, 140] })).lost).toBeLessThanOrEqual(150);
});

test.each([
  { nodes: 10, size: 250, used: 200 },
  { nodes: 50, size: 1_000, used: 800 },
])(
  '$nodes nodes whose pods come and go lose no create and read nothing once they have settled: $used of $size in use',
  async (crowd) => {
    const random = randomOf(crowd.size);
    const { ledger, take, giveBack } = buildCrowd(crowd.size, crowd.size, crowd.nodes);
    const held: IpRecord[][] = Array.from({ length: crowd.nodes }, () => []);
    const replaceOne = async (at: number) => {
      const [gone] = held[at]?.splice(random(held[at].length), 1) ?? [];
      if (gone !== undefined) await giveBack(at, gone);
      held[at]?.push(await take(at));
    };
    for (let count = 0; count < crowd.used; count += 1)
      held[count % crowd.nodes]?.push(await take(count % crowd.nodes));
    for (let count = 0; count < 5_000; count += 1) await replaceOne(random(crowd.nodes));
    const before = { lost: ledger.lost, reads: ledger.reads };
    for (let count = 0; count < 1_000; count += 1) await replaceOne(random(crowd.nodes));
    expect({ lost: ledger.lost - before.lost, reads: ledger.reads - before.reads }).toEqual({ lost: 0, reads: 0 });
  },
);
