import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { POD_ANNOTATIONS } from './annotation-keys.ts';
import type { Parsed } from './annotation-reader.ts';
import { describeSource } from './candidate-source.ts';
import type { PoolRequest } from './request.ts';
import { type NicSubnets, parseSubnet, parseSubnets } from './subnet-annotations.ts';

export type SubnetSource = 'pod-subnets' | 'pod-subnet';

export function subnetSource({ pod }: PoolRequest): SubnetSource | null {
  if (pod.annotations[POD_ANNOTATIONS.subnets] !== undefined) return 'pod-subnets';
  return pod.annotations[POD_ANNOTATIONS.subnet] === undefined ? null : 'pod-subnet';
}

/** The subnets for the interface that asks. Throws `no-eligible-pool` when the annotation has nothing for it. */
export function askedSubnets(request: PoolRequest, source: SubnetSource): Parsed<NicSubnets> {
  const from = describeSource(source);
  const { value: items, warnings } = readItems(request, source);
  const value = items.find((item) => item.interface === request.interface);
  if (value === undefined) {
    const named = listSome(
      items.map((item) => quote(item.interface)),
      10,
    );
    throw new IpamError(
      'no-eligible-pool',
      `${from}: nothing for interface ${quote(request.interface)}, only for ${named}`,
    );
  }
  if (request.controller === null) {
    throw new IpamError('no-eligible-pool', `${from}: a pod without a controller cannot have pools made from a subnet`);
  }
  return { value, warnings };
}

function readItems({ pod }: PoolRequest, source: SubnetSource): Parsed<readonly NicSubnets[]> {
  if (source === 'pod-subnets') return parseSubnets(pod.annotations[POD_ANNOTATIONS.subnets] ?? '');
  const { value, warnings } = parseSubnet(pod.annotations[POD_ANNOTATIONS.subnet] ?? '');
  return { value: [value], warnings };
}
