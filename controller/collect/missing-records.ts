import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { holderFrom } from '#controller/judge/next-spec.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { isAlive } from '#pkg/crd/pod-life.ts';
import { tryParseAddress } from '#pkg/ip/address.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { inSlices } from '#pkg/kube/watch/in-slices.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { allocatedSpec, type RecordSpec } from '#pkg/record/ip-record.ts';

/** An address that a running pod has and no record knows. */
export interface Missing {
  readonly pod: PodFacts;
  readonly address: string;
}

/** Where the first interface of pods, the one in `status.podIPs`, is known to be ours. */
export interface FirstInterfaces {
  readonly nodes: ReadonlySet<string>;
  readonly pools: ReadonlySet<string>;
}

/** Finds running pods whose record was deleted. A record must be missing for the settle time, in two sweeps at least. */
export class MissingRecords {
  #sinceMs = new Map<string, number>();

  async look(view: ClusterView, nowMs: number, settleMs: number): Promise<Missing[]> {
    const before = this.#sinceMs;
    this.#sinceMs = new Map();
    const settled: Missing[] = [];
    await inSlices(view.pods.all(), (pod) => {
      for (const address of missingAddresses(pod, view)) {
        const key = `${pod.uid}/${address}`;
        const sinceMs = before.get(key) ?? nowMs;
        this.#sinceMs.set(key, sinceMs);
        if (before.has(key) && nowMs - sinceMs >= settleMs) settled.push({ pod, address });
      }
    });
    return settled;
  }
}

/** By pods that show an address of their own record in their status: of each, its node and the pool of the record. */
export async function findFirstInterfaces({ pods, records }: ClusterView): Promise<FirstInterfaces> {
  const [nodes, pools] = [new Set<string>(), new Set<string>()];
  await inSlices(pods.all(), ({ uid, node, podIPs }) => {
    for (const { record } of podIPs.flatMap((address) => records.ofAddress(address))) {
      if (record.spec.holder.uid !== uid) continue;
      nodes.add(node);
      pools.add(record.spec.pool.name);
    }
  });
  return { nodes, pools };
}

function missingAddresses(pod: PodFacts, { records }: ClusterView): readonly string[] {
  return mayMiss(pod) ? pod.podIPs.filter((address) => records.ofAddress(address).length === 0) : [];
}

/** A pod that is ending releases its record before the pod object is deleted. */
export function mayMiss(pod: PodFacts): boolean {
  return !pod.isHostNetwork && isAlive(pod) && pod.phase === 'Running';
}

/**
 * Null unless exactly one pool has the address: otherwise its owner is ambiguous, or the address is not ours. Null also
 * where nothing shows that first interfaces are served by us: an overlay network may use the same numbers.
 */
export function draftMissing(
  { pod, address: text }: Missing,
  pools: readonly Pool[],
  served: FirstInterfaces,
): RecordSpec | null {
  const address = tryParseAddress(text);
  if (address === null) return null;
  const [pool, ...others] = pools.filter((it) => it.family === address.family && it.addresses.contains(address.value));
  if (pool === undefined || others.length > 0) return null;
  if (!served.nodes.has(pod.node) && !served.pools.has(pool.name)) return null;
  return {
    ...allocatedSpec(pool, address, holderFrom(pod)),
    ...(pool.routes.length === 0 ? {} : { routes: pool.routes }),
  };
}

/** No address is allocated from a pool that cannot be decoded. */
export function readablePools(objects: readonly KubeObject[]): Pool[] {
  return objects.flatMap((object) => {
    try {
      return [decodePool(object)];
    } catch {
      return [];
    }
  });
}
