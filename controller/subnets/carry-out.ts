import type { Logger } from 'pino';
import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import type { Pass } from '#controller/reconcile/reconciler.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import type { AskingApplications } from './applications.ts';
import { changedPoolObject, newPoolObject } from './pool-object.ts';
import type { PoolOwners } from './pool-owners.ts';
import type { PoolNow, PoolsNow } from './pools-now.ts';

export interface CarryOutDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly now: () => Date;
  readonly ledger: Pick<Ledger, 'takenOf'>;
  readonly pools: Pick<PoolsNow, 'noteWritten'>;
  readonly applications: AskingApplications;
  readonly owners: Pick<PoolOwners, 'verdictOf'>;
}

/** What the plan was made for. */
export interface PlannedFor {
  readonly subnet: SpiderSubnet;
  readonly object: KubeObject;
  /** The pools as the plan saw them: a write to a pool that has changed since is refused, and planned again. */
  readonly seen: ReadonlyMap<string, PoolNow>;
}

type Write = Pass['write'];
type StepOf<K extends AutoPoolStep['do']> = Extract<AutoPoolStep, { do: K }>;

/** Carries out the steps of one plan. One write for each; each returns when the next pass is due, undefined for no need of one. */
export class CarryOut {
  readonly #deps: CarryOutDeps;
  readonly #of: PlannedFor;
  readonly #write: Write;

  constructor(deps: CarryOutDeps, of: PlannedFor, write: Write) {
    this.#deps = deps;
    this.#of = of;
    this.#write = write;
  }

  do(step: AutoPoolStep): Promise<number | undefined> {
    if (step.do === 'create') return this.#create(step);
    const pool = this.#of.seen.get(step.name);
    if (pool === undefined) return Promise.resolve(undefined);
    return step.do === 'change' ? this.#change(step, pool) : this.#delete(step, pool);
  }

  async #create({ name, wanted, addresses }: StepOf<'create'>): Promise<number | undefined> {
    const { client, log, pools } = this.#deps;
    const object = newPoolObject(name, wanted, addresses, this.#of);
    const written = await this.#write(`create pool ${name}`, () => client.create(POOLS, object));
    if (!('object' in written)) return written.requeueMs;
    pools.noteWritten(written.object);
    log.info({ pool: name, subnet: this.#of.subnet.name, addresses: Number(addresses.size) }, 'auto pool created');
    return undefined;
  }

  async #change(step: StepOf<'change'>, { object, pool }: PoolNow): Promise<number | undefined> {
    const before = pool?.addresses ?? IntervalSet.EMPTY;
    const lost = before.subtract(step.addresses);
    const written = await this.#store(object, step, lost);
    if (!('object' in written) || lost.isEmpty) return written.requeueMs;
    return this.#takeBack(written.object, step, lost);
  }

  /** An agent may have given out one of the lost addresses since the records were looked at: the pool gets it back before another pool can. */
  async #takeBack(object: KubeObject, step: StepOf<'change'>, lost: IntervalSet): Promise<number | undefined> {
    const taken = await this.#deps.ledger.takenOf(step.name);
    const back = taken.filter(({ value, state }) => isHeldState(state) && lost.contains(value));
    if (back.length === 0) return undefined;
    const set = IntervalSet.of(back.map(({ value }) => ({ first: value, last: value })));
    const next = { ...step, addresses: step.addresses.union(set) };
    return (await this.#store(object, next, IntervalSet.EMPTY)).requeueMs;
  }

  async #store(object: KubeObject, step: StepOf<'change'>, lost: IntervalSet) {
    const { client, log, pools, now } = this.#deps;
    const { subnet } = this.#of;
    const next = changedPoolObject(object, { ...step, lost }, { subnet, now: now() });
    const written = await this.#write(`change pool ${step.name}`, () => client.update(POOLS, next));
    if ('object' in written) {
      pools.noteWritten(written.object);
      log.info({ pool: step.name, subnet: subnet.name, addresses: Number(step.addresses.size) }, 'auto pool changed');
    }
    return written;
  }

  /** The pool goes only if its application is proven gone, or says itself that it does not ask for subnets or not for this one. */
  async #delete({ name, application }: StepOf<'delete'>, { object }: PoolNow): Promise<number | undefined> {
    const { client, log, applications, owners } = this.#deps;
    if (applications.find(application)?.application.uid !== application.uid) {
      const { verdict, forMs } = owners.verdictOf(application);
      if (verdict !== 'gone' && verdict !== 'silent') return forMs;
    }
    const { uid, resourceVersion } = object.metadata;
    const seen = { name, uid, resourceVersion };
    const { requeueMs } = await this.#write(`delete pool ${name}`, () => client.delete(POOLS, seen));
    if (requeueMs === undefined) log.info({ pool: name, subnet: this.#of.subnet.name }, 'auto pool deleted');
    return requeueMs;
  }
}
