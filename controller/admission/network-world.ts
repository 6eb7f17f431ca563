import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { type PoolRanges, readPoolRanges } from '#pkg/crd/pool-ranges.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';

/** The objects that a new one must stand beside, as they are now. Throws where they cannot be read. */
export interface NetworkWorld {
  /** Pools that cannot be decoded are in it too, with the ranges that can be read of them. */
  pools(): Promise<readonly PoolRanges[]>;
  subnets(): Promise<readonly (SpiderSubnet & { readonly object: KubeObject })[]>;
}

const TIMEOUT_MS = 5_000;

/** Consistent lists: a pool that was deleted a moment ago must not block a new one, a pool created a moment ago must. */
export function clusterWorld(client: KubeClient): NetworkWorld {
  const list = async <T>(resource: Resource, decode: (object: KubeObject) => T | null): Promise<T[]> => {
    const listed = await client.list(resource, {}, { timeoutMs: TIMEOUT_MS });
    if (!listed.ok) throw new Error(`${resource.plural} cannot be listed: ${listed.because}: ${listed.message}`);
    const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    return listed.object.items.flatMap((object) => decode({ ...object, ...kind }) ?? []);
  };
  return {
    pools: () => list(POOLS, readPoolRanges),
    subnets: () => list(SUBNETS, tryDecodeSubnet),
  };
}

/** A subnet that cannot be decoded gives no addresses to pools; its own next change is refused until it is right. */
function tryDecodeSubnet(object: KubeObject) {
  try {
    return { ...decodeSpiderSubnet(object), object };
  } catch {
    return null;
  }
}
