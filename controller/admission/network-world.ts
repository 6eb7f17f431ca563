import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { apiVersionOf, type Resource } from '#pkg/kube/objects/resource.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** The objects that a new one must stand beside, as they are now. Throws where they cannot be read. */
export interface NetworkWorld {
  pools(): Promise<readonly Pool[]>;
  subnets(): Promise<readonly (SpiderSubnet & { readonly object: KubeObject })[]>;
}

const TIMEOUT_MS = 5_000;

/** Consistent lists: a pool that was deleted a moment ago must not block a new one, a pool created a moment ago must. */
export function clusterWorld(client: KubeClient): NetworkWorld {
  const list = async <T>(resource: Resource, decode: (object: KubeObject) => T): Promise<T[]> => {
    const listed = await client.list(resource, {}, { timeoutMs: TIMEOUT_MS });
    if (!listed.ok) throw new Error(`${resource.plural} cannot be listed: ${listed.because}: ${listed.message}`);
    return listed.object.items.flatMap((object) => tryDecode(resource, object, decode));
  };
  return {
    pools: () => list(POOLS, decodePool),
    subnets: () => list(SUBNETS, (object) => ({ ...decodeSpiderSubnet(object), object })),
  };
}

/** An object that cannot be decoded gives out no addresses and blocks no other; its own next change is refused until it is right. */
function tryDecode<T>(resource: Resource, object: KubeObject, decode: (object: KubeObject) => T): T[] {
  try {
    return [decode({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind })];
  } catch {
    return [];
  }
}
