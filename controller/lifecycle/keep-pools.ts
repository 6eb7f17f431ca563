import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { networkOf, type PoolReadings, readSubnet } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { POOL_CIDR_LABEL } from '#pkg/crd/cidr-label.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { KubeObject, SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import { planPoolAdoption, type StoredSubnet } from './adopt-pool.ts';
import { countHeld } from './count-held.ts';
import { OverlapReporter } from './overlap-reporter.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

export interface KeepPoolsOptions extends ReconcilerContext {
  readonly pools: ObjectView;
  readonly subnets: ObjectView;
  readonly catalog: PoolReadings;
  readonly records: RecordsView;
  readonly ledger: Pick<Ledger, 'takenOf'>;
  readonly events: Events;
  /** How long records may still be missing, because the store may have been restored and agents write them back. */
  readonly recordsMissingForMs: () => number;
  /** Pools come under the subnet of their network. */
  readonly adoptPools: boolean;
}

const DEBOUNCE_MS = 300;
/** The key of a pass over all overlaps; no pool can have this name. */
const OVERLAPS = '*';
/** The event of a release can be lost in an outage, so a pool in use is checked again after this time. */
const LOOK_AGAIN_MS = 60_000;

/** Keeps finalizer, family, label and subnet of pools, reports later pools that overlap, and removes the finalizer of a deleted pool once none of its addresses is held. */
export function keepPools(options: KeepPoolsOptions): AsyncDisposable {
  const { client, log, pools, subnets, catalog, records, ledger, events, recordsMissingForMs } = options;
  const reporter = new OverlapReporter(POOLS, { events, log });
  const noteOf = (name: string): string | undefined => {
    const overlap = catalog.overlaps().get(name);
    if (overlap === undefined) return catalog.subnetOverlaps().pools.get(name);
    return `${overlap}; the earlier pool has them, and nothing is given out from this one`;
  };

  const adoption = (name: string, object: SeenObject): SeenObject | null => {
    const pool = catalog.find(name)?.facts.pool ?? null;
    if (!options.adoptPools || pool === null) return null;
    const near = [...subnets.all()].filter((subnet) => networkOf(subnet) === networkOf(object));
    return planPoolAdoption(object, pool, near.flatMap(readStored));
  };
  const isUnadopted = (name: string): boolean => {
    const object = pools.get({ name });
    return object !== null && adoption(name, object) !== null;
  };

  return startReconciler(options, {
    kind: 'pool',
    failed: 'pool not reconciled',
    debounceMs: DEBOUNCE_MS,
    caches: [pools, subnets],
    watch: (enqueue) => {
      catalog.names().forEach(enqueue);
      return [
        pools.onChange(({ name }) => {
          enqueue(name);
          enqueue(OVERLAPS);
        }),
        subnets.onChange(() => enqueue(OVERLAPS)),
        records.onChange(({ before, after }) => {
          if (before !== null && after === null) enqueue(before.spec.pool.name);
          else if (after !== null && !isHeldState(after.spec.state)) enqueue(after.spec.pool.name);
        }),
      ];
    },
    reconcile: async (name, { enqueue, write }) => {
      if (name === OVERLAPS)
        return void [...catalog.overlaps().keys(), ...catalog.subnetOverlaps().pools.keys()]
          .filter((other) => !reporter.hasReported(other))
          .concat(catalog.names().filter(isUnadopted))
          .forEach(enqueue);
      const object = pools.get({ name });
      if (object === null) return void reporter.forget(name);
      const isTerminating = object.metadata.deletionTimestamp !== undefined;
      if (!isTerminating) reporter.report(object, noteOf(name));
      const kept = isTerminating ? withoutFinalizer(object) : planUpkeep(object, POOL_CIDR_LABEL);
      const next = isTerminating ? kept : (adoption(name, kept ?? object) ?? kept);
      if (next === null) return undefined;
      if (isTerminating && recordsMissingForMs() > 0) return recordsMissingForMs();
      // Read from the ledger, never from the cache: an address that was taken a moment ago must keep the pool.
      if (isTerminating && (await countHeld(ledger, name)) > 0) return LOOK_AGAIN_MS;
      const { requeueMs } = await write(`pool ${name}`, () => client.update(POOLS, next));
      if (isTerminating && requeueMs === undefined) log.info({ pool: name }, 'no address is held: finalizer removed');
      return requeueMs;
    },
  });
}

function readStored(object: KubeObject): StoredSubnet[] {
  const subnet = readSubnet(object);
  return subnet === null ? [] : [{ ...subnet, object }];
}
