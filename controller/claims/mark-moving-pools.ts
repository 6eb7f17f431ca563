import { lacksMoveMark, lacksOwnMoveMark, ownersToMove } from '#controller/claim-plan/move-marks.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { ShownAddresses } from '#controller/give/shown-addresses.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { MOVE_HIERARCHY_LABEL, MOVE_LABEL } from '#pkg/capi/contract-names.ts';
import { readIpAddress } from '#pkg/capi/read-ip-address.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';

export interface MarkMovingPoolsOptions extends ReconcilerContext {
  readonly views: Record<'addresses' | 'pools' | 'subnets', ObjectView>;
  readonly recordsView: RecordsView;
  readonly shown: ShownAddresses;
}

const DEBOUNCE_MS = 500;

/** Lets `clusterctl move` take the pools along that IPAddresses are of (ADR 0065): one write in the life of a pool. */
export function markMovingPools(options: MarkMovingPoolsOptions): AsyncDisposable {
  const { client, views, recordsView, shown } = options;
  const { addresses, pools, subnets } = views;

  return startReconciler(options, {
    kind: 'pool',
    failed: 'pool not marked for clusterctl move',
    debounceMs: DEBOUNCE_MS,
    // Those of the claims: what IPAddresses show is known once they have synced.
    caches: [...Object.values(views), recordsView],
    watch: (enqueue) => {
      for (const { metadata } of pools.all()) enqueue(metadata.name);
      return [
        pools.onChange(({ name }) => enqueue(name)),
        addresses.onChange((at) => {
          const object = addresses.get(at);
          const pool = object === null ? null : readIpAddress(object)?.pool;
          if (pool != null) enqueue(pool);
        }),
      ];
    },
    reconcile: async (name, pass) => {
      const pool = pools.get({ name });
      if (pool === null) return undefined;
      if (lacksMoveMark(pool, shown.hasAny(name))) return mark(POOLS, pool, MOVE_HIERARCHY_LABEL, pass);
      for (const owner of ownersToMove(pool)) {
        const subnet = subnets.get({ name: owner });
        if (subnet === null || !lacksOwnMoveMark(subnet)) continue;
        const requeueMs = await mark(SUBNETS, subnet, MOVE_LABEL, pass);
        if (requeueMs !== undefined) return requeueMs;
      }
      return undefined;
    },
  });

  async function mark(kind: Resource, { metadata }: KubeObject, label: string, { write }: Pass) {
    const { name, uid } = metadata;
    const patch = { metadata: { uid, labels: { [label]: '' } } };
    return (await write(`label of ${kind.kind} ${name}`, () => client.patch(kind, { name }, patch))).requeueMs;
  }
}
