import type { Logger } from 'pino';
import type { AddressProbe, Answering } from '#agent/allocate/address-probe.ts';
import type { BeginLooks } from '#agent/node/netns-look.ts';
import type { GiveBack } from '#agent/release/give-back.ts';
import type { AgentMetrics } from '#agent/report/agent-metrics.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { AGENT_HOLDERS } from '#pkg/record/transition-table.ts';
import { askThroughPods } from './ask-through-pods.ts';
import { type Followed, FollowedSuspects } from './followed-suspects.ts';
import { heldHere } from './held-here.ts';
import { type PoolInUse, PoolsInUse, type PoolsInUseDeps } from './pools-in-use.ts';
import type { SweepTiming } from './sweep-timing.ts';

const ROUNDS = 3;

export interface SuspectSweepDeps extends Omit<PoolsInUseDeps, 'reloadEveryMs'> {
  readonly ledger: Ledger;
  readonly probe: Pick<AddressProbe, 'whoAnswers'>;
  readonly giveBack: Pick<GiveBack, 'atOnce'>;
  readonly beginLooks: BeginLooks;
  readonly node: string;
  readonly timing: SweepTiming;
  readonly metrics: Pick<AgentMetrics, 'suspectFreed'>;
  readonly log: Logger;
}

/**
 * Rule 6: an address that stays Suspect, and whose record does not change for a long time, is probed in several rounds
 * minutes apart. After silence in all of them it is freed. Whatever is not silence leaves it as it is.
 */
export class SuspectSweep {
  readonly #deps: SuspectSweepDeps;
  readonly #pools: PoolsInUse;
  readonly #followed: FollowedSuspects;
  #nextRoundAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: SuspectSweepDeps) {
    this.#deps = deps;
    this.#pools = new PoolsInUse({ ...deps, reloadEveryMs: deps.timing.reloadEveryMs });
    this.#followed = new FollowedSuspects(deps.random);
  }

  /** The names of the records that this agent follows. */
  get followed(): readonly string[] {
    return this.#followed.names;
  }

  /** Does what is due. To be called often: without Suspect addresses it costs nothing but the load of the views. */
  async step(signal: AbortSignal): Promise<void> {
    const { nowMs, random, timing, log } = this.#deps;
    const inUse = this.#pools.all();
    await this.#pools.reload(inUse);
    if (nowMs() >= this.#nextRoundAtMs) {
      this.#followed.beginRound(
        [...inUse.values()].map(({ view }) => view),
        nowMs(),
      );
      this.#nextRoundAtMs = nowMs() + timing.lookEveryMs * (0.9 + random() / 5);
    }
    for (const followed of this.#followed.due(nowMs())) {
      if (signal.aborted) return;
      // Given up unless a look says otherwise: another agent, or this one in a later round, begins anew with it.
      this.#followed.drop(followed.name);
      const next = await this.#examine(followed, inUse.get(followed.pool), signal).catch((thrown: unknown) => {
        log.warn({ record: followed.name, why: toIpamError(thrown).message }, 'Suspect address not probed');
        return null;
      });
      if (next !== null) this.#followed.put(next);
    }
  }

  /** What to remember of it; null: it is given up. */
  async #examine(followed: Followed, pool: PoolInUse | undefined, signal: AbortSignal): Promise<Followed | null> {
    const { ledger, nowMs, timing } = this.#deps;
    const record = await ledger.get(followed.name);
    if (record?.spec.state !== 'Suspect') pool?.view.suspects.forget(followed.value);
    if (record === null || pool === undefined || !(await this.#mayFree(record, pool))) return null;
    const atMs = nowMs();
    if (followed.seen === null) return { ...followed, seen: record, sinceMs: atMs, dueAtMs: atMs + timing.lookEveryMs };
    if (!isSameVersion(record, followed.seen)) return null;
    const oldAtMs = followed.sinceMs + timing.ageMs;
    if (atMs < oldAtMs) return { ...followed, dueAtMs: Math.min(atMs + timing.lookEveryMs, oldAtMs) };
    if ((await this.#ask(record, pool, signal)) !== 'silence') return null;
    const silentRounds = followed.silentRounds + 1;
    if (silentRounds < ROUNDS) return { ...followed, silentRounds, dueAtMs: nowMs() + timing.roundGapMs };
    await this.#free(record);
    pool.view.suspects.forget(followed.value);
    return null;
  }

  /** A static pod runs without its API object: only its DEL or its namespace frees it. */
  async #mayFree({ spec }: IpRecord, { view }: PoolInUse): Promise<boolean> {
    const { node, beginLooks } = this.#deps;
    const { holder } = spec;
    const isAgents = AGENT_HOLDERS.some(({ kind, only }) => kind === holder.kind && only === null);
    if (spec.state !== 'Suspect' || spec.pool.name !== view.pool.name || !isAgents || holder.static === true)
      return false;
    return holder.node !== node || (await beginLooks()(holder)) !== 'there';
  }

  async #ask(record: IpRecord, { view, pods }: PoolInUse, signal: AbortSignal): Promise<Answering> {
    const { probe, beginLooks } = this.#deps;
    return await askThroughPods(record, { pool: view.pool, pods, probe, look: beginLooks(), signal });
  }

  /** An agent deletes records of its own node only, so it first makes this one its own. Both writes hit only what was seen. */
  async #free(seen: IpRecord): Promise<void> {
    const { ledger, giveBack, node, metrics, log } = this.#deps;
    const taken = await ledger.takeOver(seen, heldHere(seen.spec, node));
    if (!taken.done) return;
    const outcome = await giveBack.atOnce(taken.record);
    metrics.suspectFreed();
    log.warn(
      { address: seen.spec.address, holder: describeHolder(seen), outcome },
      'Suspect address freed, no host answered on it',
    );
  }
}

function isSameVersion(a: IpRecord, b: IpRecord): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
