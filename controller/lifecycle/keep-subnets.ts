import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { FailedRequest, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { SUBNET_CIDR_LABEL } from './cidr-label.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

export interface KeepSubnetsOptions extends ReconcilerContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
}

const DEBOUNCE_MS = 300;
const LOOK_AGAIN_MS = 60_000;

/** Keeps finalizer, family and label on subnets, and removes the finalizer of a deleted subnet once it owns no pool. */
export function keepSubnets(options: KeepSubnetsOptions): AsyncDisposable {
  const { client, subnets, pools } = options;
  return startReconciler(options, {
    kind: 'subnet',
    failed: 'subnet not reconciled',
    debounceMs: DEBOUNCE_MS,
    caches: [subnets, pools],
    watch: (enqueue) => {
      const enqueueAll = () => {
        for (const { metadata } of subnets.all()) enqueue(metadata.name);
      };
      enqueueAll();
      return [
        subnets.onChange(({ name }) => enqueue(name)),
        pools.onChange(({ name }) => {
          if (pools.get({ name }) === null) enqueueAll();
        }),
      ];
    },
    reconcile: async (name, { write }) => {
      const object = subnets.get({ name });
      if (object === null) return undefined;
      const isTerminating = object.metadata.deletionTimestamp !== undefined;
      const next = isTerminating ? withoutFinalizer(object) : planUpkeep(object, SUBNET_CIDR_LABEL);
      if (next === null) return undefined;
      if (isTerminating) {
        const listed = await client.list(POOLS, {}, { form: 'metadata' });
        if (!listed.ok) throw new FailedRequest('list the pools', listed);
        if (listed.object.items.some((pool) => isOwnedBy(pool, object.metadata.uid))) return LOOK_AGAIN_MS;
      }
      return (await write(`subnet ${name}`, () => client.update(SUBNETS, next))).requeueMs;
    },
  });
}

function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  const owners: unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  return owners.some((owner) => isMap(owner) && owner['uid'] === uid);
}
