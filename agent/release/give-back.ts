import type { IpRecord, RecordSpec } from '#pkg/crd/ip-record.ts';
import type { Ledger, Refusal } from '#pkg/ledger/ledger.ts';
import type { PoolViews } from '../allocate/pool-views.ts';
import type { NodeIndex } from '../node-index.ts';
import type { PoolCatalog } from '../pool-catalog.ts';
import type { ReachStep } from '../steps.ts';

export type GivenBack = 'released' | 'cooling' | Refusal;

export interface GiveBackDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly views: PoolViews;
  readonly catalog: PoolCatalog;
  readonly now: () => Date;
  readonly reach: ReachStep;
}

/** Rule 2: gives back exactly the record that was seen. Whatever else is there under its name is left alone. */
export class GiveBack {
  readonly #deps: GiveBackDeps;

  constructor(deps: GiveBackDeps) {
    this.#deps = deps;
  }

  /** After a life in use: with a cooldown the address rests first. */
  async afterUse(seen: IpRecord): Promise<GivenBack> {
    const cooldownSeconds = this.#deps.catalog.current().pools.get(seen.spec.pool.name)?.reuseCooldownSeconds ?? 0;
    if (cooldownSeconds === 0 || seen.spec.state !== 'Allocated') return await this.atOnce(seen);
    const until = new Date(this.#deps.now().getTime() + cooldownSeconds * 1000);
    const outcome = await this.#deps.ledger.amend(seen, toCooling(seen.spec, until));
    this.#deps.index.drop(seen);
    if (!outcome.done) return await this.#refused(seen, outcome.because);
    this.#deps.index.put(outcome.record);
    return 'cooling';
  }

  /** Never used, or done resting. */
  async atOnce(seen: IpRecord): Promise<GivenBack> {
    const outcome = await this.#deps.ledger.release(seen);
    this.#deps.index.drop(seen);
    if (!outcome.done) return await this.#refused(seen, outcome.because);
    this.#deps.reach('record-released');
    this.#deps.views.markFree(seen);
    return 'released';
  }

  /** Somebody else changed it: the index learns what is there now, the record is not touched again. */
  async #refused(seen: IpRecord, because: Refusal): Promise<Refusal> {
    const now = because === 'changed' ? await this.#deps.ledger.get(seen.name) : null;
    if (now !== null && now.spec.holder.node === seen.spec.holder.node) this.#deps.index.put(now);
    return because;
  }
}

function toCooling(spec: RecordSpec, until: Date): RecordSpec {
  const { uid: _uid, containerID: _containerID, netns: _netns, ...holder } = spec.holder;
  return { ...spec, state: 'Cooling', until: until.toISOString(), holder };
}
