import type { ExplainAnswer, ExplainedPool } from '#pkg/agentapi/admin.ts';
import { toCountText } from './count.ts';
import { toTable } from './table.ts';

const HEADER = ['PLACE', 'POOL', 'FAMILY', 'USED/TOTAL', 'OBJECTION'];

/** First the pools that would be tried, in their order per family, then the others with their objections. */
export function renderExplain({ source, pools, held = [], refusal, note }: ExplainAnswer): string {
  const rows = [...pools].sort(compare).map(toRow);
  const table = rows.length === 0 ? 'There are none.\n' : toTable(HEADER, rows);
  const holds = held.map((it) => `Holds already: ${it.address} of pool ${it.pool} on ${it.interface} (${it.state})\n`);
  const refused = refusal === undefined ? '' : `An ADD would be refused: ${refusal.message} (${refusal.reason})\n`;
  return `Candidates come from: ${source}\n${table}${holds.join('')}${refused}${note === undefined ? '' : `${note}\n`}`;
}

function compare(a: ExplainedPool, b: ExplainedPool): number {
  return a.family - b.family || (a.place ?? Number.MAX_SAFE_INTEGER) - (b.place ?? Number.MAX_SAFE_INTEGER);
}

function toRow(pool: ExplainedPool): string[] {
  const usage = `${toCountText(BigInt(pool.used))}/${toCountText(BigInt(pool.total))}`;
  return [pool.place === null ? '' : String(pool.place), pool.name, `IPv${pool.family}`, usage, pool.objection ?? ''];
}
