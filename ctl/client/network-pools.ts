import { sharedAddresses } from '#pkg/crd/pool-overlap.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { NETWORK_NAMESPACES, OLD_NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { readNetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';

/** Of a setting of the controller that this command does not know. A lower floor only makes a pool larger than it is. */
const RANGES = { floor: 1 };

/** The pools of Vitistack's NetworkNamespaces; none where that kind is not served. Null: this user may not read them. */
export async function readNetworkPools(client: KubeClient): Promise<readonly Pool[] | null> {
  const objects = await listNetworks(client);
  return objects === null
    ? null
    : objects.flatMap((object) => readNetworkNamespace(object, RANGES)?.network?.pool ?? []);
}

async function listNetworks(client: KubeClient): Promise<readonly KubeObject[] | null> {
  for (const resource of [NETWORK_NAMESPACES, OLD_NETWORK_NAMESPACES]) {
    const listed = await client.list(resource);
    if (listed.ok) return listed.object.items;
    if (listed.because !== 'NotServed') return null;
  }
  return [];
}

/** Each pair of pools that share addresses, once: a NetworkNamespace with a pool of pods, or with another one. */
export function describeSharedRanges(networks: readonly Pool[], pools: readonly Pool[]): string[] {
  return networks.flatMap((network, index) =>
    [...pools, ...networks.slice(index + 1)]
      .filter(({ domain, family }) => domain === network.domain && family === network.family)
      .flatMap((other) => sharedAddresses(network, other) ?? []),
  );
}
