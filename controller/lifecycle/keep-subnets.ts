import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import { FailedRequest, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { SUBNET_CIDR_LABEL } from '#pkg/crd/cidr-label.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { OverlapReporter } from './overlap-reporter.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

export interface KeepSubnetsOptions extends ReconcilerContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly catalog: PoolReadings;
  readonly events: Events;
}

const DEBOUNCE_MS = 300;
/** The key of a pass over all overlaps; no subnet can have this name. */
const OVERLAPS = '*';
const LOOK_AGAIN_MS = 60_000;

/** Keeps finalizer, family and label on subnets, reports later subnets that overlap, and removes the finalizer of a deleted subnet once it owns no pool. */
export function keepSubnets(options: KeepSubnetsOptions): AsyncDisposable {
  const { client, log, subnets, pools, catalog, events } = options;
  const reporter = new OverlapReporter(SUBNETS, { events, log });
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
        subnets.onChange(({ name }) => {
          enqueue(name);
          enqueue(OVERLAPS);
        }),
        pools.onChange(({ name }) => {
          enqueue(OVERLAPS);
          if (pools.get({ name }) === null) enqueueAll();
        }),
      ];
    },
    reconcile: async (name, { enqueue, write }) => {
      const overlaps = catalog.subnetOverlaps().subnets;
      if (name === OVERLAPS)
        return void [...overlaps.keys()].filter((other) => !reporter.hasReported(other)).forEach(enqueue);
      const object = subnets.get({ name });
      if (object === null) return void reporter.forget(name);
      const isTerminating = object.metadata.deletionTimestamp !== undefined;
      if (!isTerminating) reporter.report(object, overlaps.get(name));
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
