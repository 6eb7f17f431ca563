import type { PoolSummary, PoolsAnswer } from '#pkg/agentapi/admin.ts';
import { toCountText } from './count.ts';
import { toTable } from './table.ts';
import { toUsageBar } from './usage-bar.ts';

const HEADER = ['NAME', 'SUBNET', 'USED', 'TOTAL', 'FREE', 'RESERVED', 'DOMAIN', 'FLAGS', 'USAGE'];

export function renderPools(answer: PoolsAnswer): string {
  const pools = answer.pools.length === 0 ? 'No pools.\n' : toTable(HEADER, answer.pools.map(toRow));
  const problems = answer.problems.map((problem) => `problem: ${problem}\n`);
  return [pools, ...(problems.length === 0 ? [] : ['\n']), ...problems].join('');
}

function toRow(pool: PoolSummary): string[] {
  const [used, total, free, reserved] = [pool.used, pool.total, pool.free, pool.reserved].map(BigInt) as Counts;
  const flags = [pool.isDefault ? 'default' : '', pool.isDisabled ? 'disabled' : ''].filter((flag) => flag !== '');
  const counts = [used, total, free, reserved].map(toCountText);
  return [pool.name, pool.subnet, ...counts, pool.domain, flags.join(','), toUsageBar(used, free)];
}

type Counts = [used: bigint, total: bigint, free: bigint, reserved: bigint];
