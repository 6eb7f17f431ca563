import type { SubnetPoolSummary, SubnetSummary } from '#ctl/render/render-subnets.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { ReservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { affinityApplication } from '#pkg/pool/auto-pool.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { recordedAddresses } from '#pkg/record/record-value.ts';

export interface SubnetWorld {
  readonly pools: readonly Pool[];
  readonly records: readonly IpRecord[];
  readonly reserved: ReservedAddresses;
}

/** What a subnet has and who has it. Ranges that a pool dropped a moment ago count as free here, and are not given out yet. */
export function summarizeSubnet(
  { subnet, waiting }: { readonly subnet: SpiderSubnet; readonly waiting: readonly string[] },
  world: SubnetWorld,
): SubnetSummary {
  const { family, addresses, gateway, domain } = subnet;
  const cidr = formatCidr(subnet.subnet);
  const pools = world.pools
    .filter((pool) => pool.domain === domain && formatCidr(pool.subnet) === cidr)
    .toSorted((a, b) => compareText(a.name, b.name));
  const records = world.records.filter((record) => record.spec.domain === domain && recordFamily(record) === family);
  const inPools = IntervalSet.of(pools.flatMap((pool) => [...pool.addresses.intervals()])).intersect(addresses);
  const taken = recordedAddresses(family, records);
  const free = addresses
    .subtract(inPools)
    .subtract(world.reserved[family])
    .subtract(taken)
    .subtract(IntervalSet.of(gateway === null ? [] : [{ first: gateway.value, last: gateway.value }]));
  return {
    name: subnet.name,
    subnet: cidr,
    domain,
    total: String(addresses.size),
    inPools: String(inPools.size),
    free: String(free.size),
    isTerminating: subnet.isTerminating,
    pools: pools.map((pool) => summarizePool(pool, records)),
    waiting,
  };
}

function summarizePool(pool: Pool, records: readonly IpRecord[]): SubnetPoolSummary {
  const { name, auto, podAffinity, addresses, family } = pool;
  const application = auto === null ? null : affinityApplication(podAffinity?.matchLabels ?? {});
  const used = records.filter(({ spec }) => spec.pool.name === name).length;
  return {
    name,
    application: application === null ? null : `${application.kind} ${application.namespace}/${application.name}`,
    interface: auto?.interface ?? null,
    used: String(used),
    total: String(addresses.size),
    ips: addresses.intervals().map((interval) => formatRange(family, interval)),
  };
}
