import type { WhoAnswer } from '#pkg/agentapi/admin.ts';
import { renderRecord } from './render-record.ts';

export function renderWho(answer: WhoAnswer, nowMs: number): string {
  if (answer.records.length > 0) return answer.records.map((record) => renderRecord(record, nowMs)).join('\n');
  return `${nobody(answer)}\n`;
}

function nobody({ address, pools, reservedBy }: WhoAnswer): string {
  if (pools.length === 0) return `Nobody holds ${address}, and no pool contains it.`;
  const where = `${pools.length === 1 ? 'pool' : 'pools'} ${pools.join(', ')}`;
  if (reservedBy.length === 0) return `Nobody holds ${address}: it is free in ${where}.`;
  return `Nobody holds ${address}: it lies in ${where} and is reserved by ${reservedBy.join(', ')}.`;
}
