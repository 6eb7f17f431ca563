import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { planSubnetStatus } from './plan-subnet-status.ts';
import { changedNames, networkOf, type PoolReadings, readSubnet } from './pool-catalog.ts';
import type { ShortageBoard } from './shortage-board.ts';

export interface ProjectSubnetsOptions extends ReconcilerContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly catalog: PoolReadings;
  /** Null: no pools are made from subnets. */
  readonly shortages: ShortageBoard | null;
}

const DEBOUNCE_MS = 1_000;
/** The key of a pass over all overlaps; no subnet can have this name. */
const OVERLAPS = '*';

/** Keeps the status of every subnet equal to the ranges of its pools, and repairs what other clients write there. */
export function projectSubnets(options: ProjectSubnetsOptions): AsyncDisposable {
  const { client, now, subnets, pools, catalog, shortages } = options;
  /** The last known network of each pool, for pools that were deleted. */
  const networks = new Map<string, string>();
  let marked: ReadonlyMap<string, string> = new Map();
  return startReconciler(options, {
    kind: 'subnet',
    failed: 'subnet status not written',
    debounceMs: DEBOUNCE_MS,
    caches: [subnets, pools],
    watch: (enqueue) => {
      const touchNetwork = (network: string | undefined) => {
        for (const object of subnets.all()) if (networkOf(object) === network) enqueue(object.metadata.name);
      };
      const seePool = (name: string) => {
        const pool = pools.get({ name });
        touchNetwork(networks.get(name));
        if (pool === null) networks.delete(name);
        else networks.set(name, networkOf(pool));
        touchNetwork(networks.get(name));
      };
      for (const { metadata } of subnets.all()) enqueue(metadata.name);
      for (const { metadata } of pools.all()) seePool(metadata.name);
      return [
        ...(shortages === null ? [] : [shortages.onChange(enqueue)]),
        subnets.onChange(({ name }) => {
          enqueue(name);
          enqueue(OVERLAPS);
        }),
        pools.onChange(({ name }) => {
          seePool(name);
          enqueue(OVERLAPS);
        }),
      ];
    },
    reconcile: async (name, { enqueue, write }) => {
      if (name === OVERLAPS) {
        const current = catalog.subnetOverlaps().subnets;
        changedNames(marked, current).forEach(enqueue);
        marked = current;
        return undefined;
      }
      const object = subnets.get({ name });
      const subnet = object === null ? null : readSubnet(object);
      if (object === null || subnet === null) return undefined;
      const known = catalog.names().flatMap((poolName) => {
        return catalog.find(poolName)?.facts.pool ?? [];
      });
      const overlap = catalog.subnetOverlaps().subnets.get(name) ?? null;
      const lacking = shortages?.of(name) ?? null;
      const facts = { subnet, overlap, generation: object.metadata.generation ?? 0, shortages: lacking };
      const status = planSubnetStatus(facts, known, object['status'], now());
      if (status === null) return undefined;
      const { uid, resourceVersion } = object.metadata;
      const next = { metadata: { name, uid, resourceVersion }, status };
      const send = () => client.update(SUBNETS, next, { subresource: 'status' });
      return (await write(`the status of subnet ${name}`, send)).requeueMs;
    },
  });
}
