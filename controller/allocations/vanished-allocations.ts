import { isRecordOfAllocation } from '#controller/allocation-plan/allocation-record.ts';
import { GONE_FOR_MS } from '#controller/allocation-plan/next-of-held.ts';
import { Vanished } from '#controller/give/vanished.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { IP_ALLOCATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { type IpRecord, isHeldState } from '#pkg/record/ip-record.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { type AllocationDeps, giveBack } from './carry-out-allocation.ts';

/** How often it is looked up at most whether a NetworkConfiguration is still there. */
const LOOK_AGAIN_MS = 600_000;

/**
 * What becomes of a record whose IPAllocation is gone without having given it back: our finalizer was removed by another client. It is kept for the
 * NetworkConfiguration while that lives, and given back when that is gone and the time of the address is over.
 */
export class VanishedAllocations {
  readonly #deps: AllocationDeps;
  readonly #reports: Vanished;

  constructor(deps: AllocationDeps & Pick<ReconcilerContext, 'log'>) {
    this.#deps = deps;
    this.#reports = new Vanished({
      kind: 'IPAllocation',
      reason: 'AllocationVanished',
      advice: ({ spec }) =>
        `it is kept for its NetworkConfiguration; if no machine has it any more: ipledgerctl release ${spec.address}`,
      events: deps.events,
      log: deps.log,
      nowMs: () => deps.client.timing.nowMs(),
    });
  }

  /** Returns when to look again, or undefined. */
  look(key: string): Promise<number | undefined> {
    return this.#look(key, this.#recordsOf(key));
  }

  /** The same for one of another NetworkConfiguration that had the name of this one: nothing else asks for its record any more. */
  async lookForEarlier(allocation: IpAllocation): Promise<number | undefined> {
    const key = keyOf(allocation);
    const records = this.#recordsOf(key).filter((record) => !isRecordOfAllocation(record, allocation));
    if (records.length > 0) return this.#look(key, records);
    this.#reports.isBack(key);
    return undefined;
  }

  #recordsOf(key: string): readonly IpRecord[] {
    const { namespace, name } = nameOfKey(key);
    const isNamed = ({ spec: { holder, state } }: IpRecord) =>
      holder.kind === 'IPAllocation' && holder.namespace === namespace && holder.name === name && isHeldState(state);
    return this.#deps.records.ofHolder({ kind: 'IPAllocation', namespace, name }, isNamed);
  }

  async #look(key: string, records: readonly IpRecord[]): Promise<number | undefined> {
    // One without a uid was imported, and its IPAllocation is still to come.
    const soonMs = this.#reports.look(
      key,
      records.filter(({ spec }) => spec.holder.uid !== undefined),
    );
    const waits = await Promise.all(records.map((record) => this.#reclaim(record)));
    const all = [...waits, soonMs].filter((ms) => ms !== undefined);
    return all.length === 0 ? undefined : Math.min(...all);
  }

  async #reclaim(record: IpRecord): Promise<number | undefined> {
    const { client, configurations, networks } = this.#deps;
    const { holder, pool } = record.spec;
    const ttlSeconds = networks.find(pool.name)?.network.network?.ttlSeconds ?? 0;
    if (holder.owner === undefined) return undefined;
    // The network may come back, or get a time.
    if (ttlSeconds === 0) return LOOK_AGAIN_MS;
    const at = { namespace: holder.namespace, name: holder.owner.name };
    if (configurations.find(at) !== null) return LOOK_AGAIN_MS;
    if (configurations.goneMs(at) === null && !(await configurations.look(at))) return LOOK_AGAIN_MS;
    const leftMs = Math.max(ttlSeconds * 1_000, GONE_FOR_MS) - (configurations.goneMs(at) ?? 0);
    if (leftMs > 0) return Math.min(leftMs, LOOK_AGAIN_MS);
    const found = await client.get(IP_ALLOCATIONS, { namespace: holder.namespace, name: holder.name });
    if (isStillHeld(record, found) || !(await configurations.look(at))) return LOOK_AGAIN_MS;
    const ending = await giveBack(record, this.#deps);
    return typeof ending === 'number' ? ending : undefined;
  }
}

/** Unless the API server says that it is gone, or is of another NetworkConfiguration now. */
function isStillHeld(record: IpRecord, found: Outcome<KubeObject>): boolean {
  if (!found.ok) return found.because !== 'NotFound';
  const there = readIpAllocation(found.object);
  return there === null || isRecordOfAllocation(record, there);
}
