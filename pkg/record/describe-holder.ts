import type { IpRecord } from './ip-record.ts';

/** `Container prod/web-0 eth0 on worker-1`, for people. */
export function describeHolder({ spec }: IpRecord): string {
  const { kind, namespace, name, interface: nic, node } = spec.holder;
  const state = spec.state === 'Allocated' ? '' : ` (${spec.state})`;
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${nic} on ${node}${state}`;
}
