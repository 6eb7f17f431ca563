/** Names and addresses of the cluster: both networks exist only inside its own network namespaces. */

/** The first address of the service range: pods that know no more than `kubernetes.default` reach the API server by it. */
export const SERVICE_ADDRESS = '10.96.0.1';
export const SERVICE_RANGE = '10.96.0.0/16';
/** Also a name in the certificate of the API server. */
export const CONTROL_ADDRESS = '172.30.0.1';

/** The underlay: an L2 network with a gateway. Pods are in it by macvlan on the second link of their node. */
export const UNDERLAY = {
  link: 'eth1',
  gateways: ['10.88.0.1/16', 'fd88::1/64'],
} as const;

export interface NodePlan {
  readonly number: number;
  readonly name: string;
  /** On the management network, without its prefix. */
  readonly address: string;
}

const MOST_NODES = 9;

export function planNodes(count: number): NodePlan[] {
  if (!Number.isInteger(count) || count < 1 || count > MOST_NODES) {
    throw new Error(`a cluster has 1 to ${MOST_NODES} nodes, not ${count}`);
  }
  return Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    name: `n${index + 1}`,
    address: `172.30.0.${11 + index}`,
  }));
}
