import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import { holderKey, type IpRecord, RECORD_STATES, type RecordSpec } from '#pkg/record/ip-record.ts';
import { amendProblem, takeOverProblem } from '#pkg/record/transitions.ts';
import { LedgerModel } from './ledger-model.ts';
import { expectFailure, type LedgerResource, type MakeLedger } from './ledger-resource.ts';
import { heldBy, holderOf, inState, specOf } from './record-spec.ts';

const NODES = ['worker-1', 'worker-2'];
const POOLS = ['pool-a', 'pool-b'];
const NAMES = ['web-0', 'web-1'];

const spec = fc
  .record({
    address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1'),
    domain: fc.constantFrom('default', 'blue'),
    pool: fc.constantFrom(...POOLS),
    node: fc.constantFrom(...NODES),
    name: fc.constantFrom(...NAMES),
    attachGeneration: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ address, domain, pool, ...holder }) =>
    specOf(address, {
      domain,
      pool: { kind: 'SpiderIPPool', name: pool, uid: pool },
      holder: holderOf({ ...holder, uid: holder.name }),
    }),
  );

const state = fc.constantFrom(...RECORD_STATES);
/** How old the record of the next write is: mostly the current one, often a stale one. */
const ago = fc.nat({ max: 6 });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), spec }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('amend' as const, 'takeOver' as const),
      ago,
      state,
      spec,
      isOwn: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), ago }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

export function describeModel(makeLedger: MakeLedger): void {
  describe('model', () => {
    test('any sequence of writes gives the answers and the content of the model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
          await using resource = await makeLedger();
          const run = new ModelRun(resource);
          for (const step of steps) await run.take(step);
          await run.compareQueries();
        }),
        { numRuns: 60 },
      );
    });
  });
}

class ModelRun {
  readonly #resource: LedgerResource;
  readonly #model = new LedgerModel();
  readonly #seen: IpRecord[] = [];
  readonly #versions = new Set<string>();

  constructor(resource: LedgerResource) {
    this.#resource = resource;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'reopen') return this.#resource.reopen?.();
    if (step.do === 'create') return this.#create(step.spec);
    const seen = this.#seen.at(-1 - step.ago);
    if (seen === undefined) return;
    if (step.do === 'release') await this.#release(seen);
    else await this.#update(step.do, seen, nextOf(seen, step));
    expect(await this.#resource.ledger.get(seen.name)).toEqual(this.#model.get(seen.name));
  }

  async compareQueries(): Promise<void> {
    const { ledger } = this.#resource;
    const model = this.#model;
    expect(await ledger.list({ limit: 100 })).toEqual(model.where(() => true));
    for (const node of NODES) {
      expect(sorted(await ledger.byNode(node))).toEqual(model.where(({ spec }) => spec.holder.node === node));
    }
    for (const pool of POOLS) {
      expect(byValue(await ledger.takenOf(pool))).toEqual(byValue(model.takenOf(pool)));
    }
    for (const name of NAMES) {
      for (const family of [4, 6] as const) {
        const key = holderKey(holderOf({ name }), family);
        expect(sorted(await ledger.byHolder(key))).toEqual(model.byHolder(key));
      }
    }
  }

  async #create(spec: RecordSpec): Promise<void> {
    const outcome = await this.#resource.ledger.create(spec);
    if (outcome.taken) {
      expect(this.#model.get(outcome.record.name)).toBeNull();
      expect(outcome.record.spec).toEqual(spec);
      this.#noteNew(outcome.record);
      return;
    }
    const { record } = outcome;
    const holder = this.#model.where(
      ({ spec: { address, domain } }) => address === spec.address && domain === spec.domain,
    );
    expect(holder).toHaveLength(1);
    if (record !== null) expect([record]).toEqual(holder);
  }

  async #update(method: 'amend' | 'takeOver', seen: IpRecord, next: RecordSpec): Promise<void> {
    const problemOf = method === 'amend' ? amendProblem : takeOverProblem;
    const write = this.#resource.ledger[method](seen, next);
    if (problemOf(seen.spec, next) !== null) {
      await expectFailure(write, 'internal');
      return;
    }
    const because = this.#model.refusalOf(seen);
    const outcome = await write;
    if (because !== null) {
      expect(outcome).toEqual({ done: false, because });
      return;
    }
    if (!outcome.done) throw new Error(`${method} was refused as ${outcome.because}`);
    const { resourceVersion } = outcome.record;
    expect(outcome.record).toEqual({ ...seen, spec: next, resourceVersion });
    if (isDeepStrictEqual(seen.spec, next)) expect(resourceVersion).toBe(seen.resourceVersion);
    else this.#noteNew(outcome.record);
  }

  async #release(seen: IpRecord): Promise<void> {
    const because = this.#model.refusalOf(seen);
    expect(await this.#resource.ledger.release(seen)).toEqual(
      because === null ? { done: true } : { done: false, because },
    );
    if (because === null) this.#model.remove(seen.name);
  }

  #noteNew(record: IpRecord): void {
    expect(this.#versions).not.toContain(record.resourceVersion);
    this.#versions.add(record.resourceVersion);
    this.#model.put(record);
    this.#seen.push(record);
  }
}

function nextOf(seen: IpRecord, { state, spec, isOwn }: Extract<Step, { state: unknown }>): RecordSpec {
  const { attachGeneration, node } = spec.holder;
  const own = { ...heldBy(seen.spec, { attachGeneration, node, uid: seen.spec.holder.name }), pool: spec.pool };
  return inState(isOwn ? own : { ...own, holder: spec.holder }, state);
}

function sorted(records: IpRecord[]): IpRecord[] {
  return records.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function byValue(taken: TakenAddress[]): TakenAddress[] {
  const key = ({ value, family, domain }: TakenAddress) => `${family} ${value} ${domain}`;
  return taken.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
