import type { Pod, PodCluster } from './pod-cluster.ts';

const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const IPPOOL = 'ipam.spidernet.io/ippool';

export interface PoolWithPods {
  readonly name: string;
  readonly path: string;
  /** The address of the pool's subnet that ends so. */
  address(last: number): string;
  /** A pod that asks for this pool and no other. */
  pod(name: string, node?: string): Promise<Pod>;
  /** Makes the pool, or one of its name after it was deleted. */
  create(ips: readonly string[]): Promise<void>;
}

type Create = Parameters<PodCluster['createPool']>;

/** Pools of their own for each test, `ips` by their last parts, and pods that ask for them. */
export function poolMaker(cluster: () => PodCluster) {
  let made = 0;
  return async (ips: readonly string[], more: Create[1] = {}, metadata: Create[2] = {}): Promise<PoolWithPods> => {
    made += 1;
    const at = made;
    const name = `pool-${at}`;
    const address = (last: number | string) => `10.${at}.0.${last}`;
    const annotations = { [IPPOOL]: JSON.stringify({ ipv4: [name] }) };
    const create = (all: readonly string[]) =>
      cluster().createPool(name, { subnet: `10.${at}.0.0/24`, ips: all, ...more }, metadata);
    await create(ips.map(address));
    return {
      name,
      path: `${POOLS}/${name}`,
      address,
      create,
      pod: (podName, node = 'worker-1') => cluster().createPod({ name: `${podName}-${at}`, node, annotations }),
    };
  };
}
