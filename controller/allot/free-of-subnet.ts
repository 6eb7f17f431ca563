import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { RecordsOfSubnet } from './records-of-subnet.ts';
import type { SubnetSituation } from './subnet-situation.ts';

/** The addresses of a subnet that no pool has and a pool may get, some of them only after a moment. */
export function freeOfSubnet(situation: SubnetSituation, { outside }: Pick<RecordsOfSubnet, 'outside'>): IntervalSet {
  const { subnet, pools, otherRanges, reserved } = situation;
  const { gateway } = subnet;
  const ofPools = pools.flatMap(({ pool }) => pool.addresses.intervals());
  return subnet.addresses
    .subtract(IntervalSet.of(gateway === null ? [] : [{ first: gateway.value, last: gateway.value }]))
    .subtract(IntervalSet.of(ofPools))
    .subtract(otherRanges)
    .subtract(reserved)
    .subtract(outside);
}
