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

const NODES = 4;
const IN_FLIGHT = 10;
const SIZE = 1_000;

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
    await pass(1 + this.#random(3));
    const taken = await this.#ledger.takenOf(pool);
    await pass(3 + this.#random(4));
    return taken;
  }
}

test.each([1, 2, 3, 4, 5, 6])(
  'four nodes take all of 1,000 addresses, each once, and lose at most 100 creates on the way (seed %i)',
  async (seed) => {
    const ledger = new DistantLedger(randomOf(seed));
    const pool = buildPool({ name: `pool-${seed}`, subnet: '10.0.0.0/16', ips: ['10.0.1.0-10.0.4.231'] });
    const taken: string[] = [];
    const takeSome = async (view: PoolView, node: string, left: { count: number }) => {
      const draft = (value: bigint): RecordSpec =>
        specOf(formatAddress({ family: 4, value }), { pool: { kind: 'SpiderIPPool', name: pool.name, uid: 'u' } });
      while (left.count > 0) {
        left.count -= 1;
        const uid = `${node}-${left.count}`;
        const record = await takeAddress(view, {
          call: callOf(),
          ledger: ledger as unknown as Ledger,
          reach: () => {},
          nowMs: () => 0,
          draft: (value) => ({ ...draft(value), holder: { ...draft(value).holder, uid, name: uid, node } }),
        });
        if (record !== null) taken.push(record.name);
      }
    };
    const nodes = Array.from({ length: NODES }, async (_, at) => {
      const node = `worker-${at}`;
      const view = new PoolView(pool, IntervalSet.EMPTY, node, () => ledger.takenOf(pool.name));
      const left = { count: SIZE / NODES };
      await Promise.all(Array.from({ length: IN_FLIGHT }, () => takeSome(view, node, left)));
    });
    await Promise.all(nodes);
    expect(new Set(taken).size).toBe(SIZE);
    expect(taken.every((name) => pool.addresses.contains(parseAddress(name).value))).toBe(true);
    expect(ledger.lost).toBeLessThanOrEqual(100);
  },
);
