import { expect, test } from 'vitest';
import type { RecordSpec } from '#pkg/crd/ip-record.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Ledger, TakenAddress } from '#pkg/ledger/ledger.ts';
import { createMemoryLedger } from '#pkg/ledger/memory-ledger.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { PoolView } from './pool-view.ts';
import { takeAddress } from './take-address.ts';

const IN_FLIGHT = 10;

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

  async takenOf(pool: string): Promise<readonly TakenAddress[]> {
    this.reads += 1;
    await pass(1 + this.#random(3));
    const taken = await this.#ledger.takenOf(pool);
    await pass(3 + this.#random(4));
    return taken;
  }
}

interface Crowd {
  readonly seed: number;
  readonly size: number;
  /** How many addresses each of the nodes takes before all of them go on. */
  readonly step: readonly number[];
}

/** Nodes that take all of a pool, step by step; tells of each step what was lost and read in it. */
async function takeAll({ seed, size, step }: Crowd) {
  const ledger = new DistantLedger(randomOf(seed));
  const lastIp = formatAddress({ family: 4, value: parseAddress('10.0.1.0').value + BigInt(size - 1) });
  const pool = buildPool({ name: `pool-${seed}`, subnet: '10.0.0.0/16', ips: [`10.0.1.0-${lastIp}`] });
  const nodes = step.map((_, at) => `worker-${at}`);
  const views = nodes.map((node) => new PoolView(pool, IntervalSet.EMPTY, node, () => ledger.takenOf(pool.name)));
  const taken: string[] = [];
  let asked = 0;
  const takeOne = async (view: PoolView, node: string) => {
    asked += 1;
    const uid = `${node}-${asked}`;
    const record = await takeAddress(view, {
      call: callOf(),
      ledger: ledger as unknown as Ledger,
      reach: () => {},
      nowMs: () => 0,
      draft: (value) => draftFor(pool.name, value, { uid, node }),
    });
    if (record !== null) taken.push(record.name);
  };
  const steps: { readonly lost: number; readonly reads: number }[] = [];
  while (taken.length < size) {
    const { lost, reads } = ledger;
    await Promise.all(
      views.map(async (view, at) => {
        let left = step[at] ?? 0;
        const takeSome = async () => {
          while (left > 0) {
            left -= 1;
            await takeOne(view, nodes[at] ?? '');
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, takeSome));
      }),
    );
    steps.push({ lost: ledger.lost - lost, reads: ledger.reads - reads });
    expect(taken).toHaveLength(Math.min(size, steps.length * step.reduce((sum, it) => sum + it, 0)));
  }
  expect(new Set(taken).size).toBe(size);
  expect(taken.every((name) => pool.addresses.contains(parseAddress(name).value))).toBe(true);
  return { steps, lost: ledger.lost };
}

function draftFor(pool: string, value: bigint, { uid, node }: { uid: string; node: string }): RecordSpec {
  const spec = specOf(formatAddress({ family: 4, value }), { pool: { kind: 'SpiderIPPool', name: pool, uid: 'u' } });
  return { ...spec, holder: { ...spec.holder, uid, name: uid, node } };
}

test.each([1, 2, 3, 4, 5, 6])(
  'four nodes take all of 1,000 addresses, each once, and lose at most 60 creates (seed %i)',
  async (seed) => {
    expect((await takeAll({ seed, size: 1_000, step: [250, 250, 250, 250] })).lost).toBeLessThanOrEqual(60);
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
