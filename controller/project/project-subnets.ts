import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { apiVersionOf } from '#pkg/kube/objects/resource.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { planSubnetStatus } from './plan-subnet-status.ts';
import type { PoolReadings } from './pool-catalog.ts';

export interface ProjectSubnetsOptions extends ReconcilerContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly catalog: PoolReadings;
}

const DEBOUNCE_MS = 1_000;

/** Keeps the status of every subnet equal to the ranges of its pools, and repairs what other clients write there. */
export function projectSubnets(options: ProjectSubnetsOptions): AsyncDisposable {
  const { client, subnets, pools, catalog } = options;
  /** The last known network of each pool, for pools that were deleted. */
  const networks = new Map<string, string>();
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
      return [subnets.onChange(({ name }) => enqueue(name)), pools.onChange(({ name }) => seePool(name))];
    },
    reconcile: async (name, { write }) => {
      const object = subnets.get({ name });
      const subnet = object === null ? null : readSubnet(object);
      if (object === null || subnet === null) return undefined;
      const known = catalog.names().flatMap((poolName) => {
        const found = catalog.find(poolName);
        const pool = found?.facts.pool ?? null;
        return pool === null ? [] : [{ pool, labels: found?.object.metadata.labels ?? {} }];
      });
      const status = planSubnetStatus(subnet, known, object['status']);
      if (status === null) return undefined;
      const { uid, resourceVersion } = object.metadata;
      const next = { metadata: { name, uid, resourceVersion }, status };
      const send = () => client.update(SUBNETS, next, { subresource: 'status' });
      return (await write(`the status of subnet ${name}`, send)).requeueMs;
    },
  });
}

function networkOf(object: KubeObject): string {
  const subnet = isMap(object['spec']) ? object['spec']['subnet'] : undefined;
  return typeof subnet === 'string' ? subnet : '';
}

function readSubnet(object: KubeObject): SpiderSubnet | null {
  try {
    return decodeSpiderSubnet({ ...object, apiVersion: apiVersionOf(SUBNETS), kind: SUBNETS.kind });
  } catch {
    return null; // admission has refused it to its author
  }
}
