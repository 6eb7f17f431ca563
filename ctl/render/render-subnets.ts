import { toCountText } from './count.ts';
import { toTable } from './table.ts';

/** Counts are decimal text: a subnet may hold more than 2^53 addresses. */
export interface SubnetSummary {
  readonly name: string;
  readonly subnet: string;
  readonly domain: string;
  readonly total: string;
  /** In the ranges of pools, whether pods use them or not. */
  readonly inPools: string;
  /** What a pool could still get: not in a pool, not reserved, without a record. */
  readonly free: string;
  readonly isTerminating: boolean;
  readonly pools: readonly SubnetPoolSummary[];
  /** One line for each application that does not get what it asks for, as the controller wrote it. */
  readonly waiting: readonly string[];
}

export interface SubnetPoolSummary {
  readonly name: string;
  /** `Deployment prod/web`; null: the pool was made by hand. */
  readonly application: string | null;
  readonly interface: string | null;
  readonly used: string;
  readonly total: string;
  readonly ips: readonly string[];
}

export interface SubnetsAnswer {
  readonly subnets: readonly SubnetSummary[];
  readonly problems: readonly string[];
}

const SUBNETS = ['NAME', 'SUBNET', 'TOTAL', 'IN-POOLS', 'FREE', 'DOMAIN', 'FLAGS'];
const POOLS = ['SUBNET', 'POOL', 'APPLICATION', 'INTERFACE', 'USED/TOTAL', 'IPS'];
/** The rest is in the JSON. */
const MOST_RANGES = 3;

/** The subnets, then their pools, then who waits. */
export function renderSubnets({ subnets, problems }: SubnetsAnswer): string {
  const pools = subnets.flatMap(({ name, pools }) => pools.map((pool) => toPoolRow(name, pool)));
  const waiting = subnets.flatMap(({ name, waiting }) => waiting.map((line) => `waiting for ${name}: ${line}\n`));
  const parts = [
    subnets.length === 0 ? 'No subnets.\n' : toTable(SUBNETS, subnets.map(toRow)),
    pools.length === 0 ? '' : toTable(POOLS, pools),
    waiting.join(''),
    problems.map((problem) => `problem: ${problem}\n`).join(''),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function toRow({ name, subnet, domain, isTerminating, ...counts }: SubnetSummary): string[] {
  const numbers = [counts.total, counts.inPools, counts.free].map((count) => toCountText(BigInt(count)));
  return [name, subnet, ...numbers, domain, isTerminating ? 'terminating' : ''];
}

function toPoolRow(
  subnet: string,
  { name, application, interface: nic, used, total, ips }: SubnetPoolSummary,
): string[] {
  const usage = `${toCountText(BigInt(used))}/${toCountText(BigInt(total))}`;
  const more = ips.length > MOST_RANGES ? ` and ${ips.length - MOST_RANGES} more` : '';
  return [subnet, name, application ?? '', nic ?? '', usage, `${ips.slice(0, MOST_RANGES).join(',')}${more}`];
}
