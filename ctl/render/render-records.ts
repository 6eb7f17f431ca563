import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toAgeText } from './duration.ts';
import { toHolderText } from './holder-text.ts';
import { toStateText } from './state-text.ts';
import { toTable } from './table.ts';

const HEADER = ['ADDRESS', 'POOL', 'STATE', 'HOLDER', 'INTERFACE', 'NODE', 'AGE'];
const DEFAULT_DOMAIN = 'default';

/** A column DOMAIN is added where a record lies outside the default one. */
export function renderRecords(records: readonly IpRecord[], nowMs: number): string {
  if (records.length === 0) return 'No records.\n';
  const hasDomains = records.some(({ spec }) => spec.domain !== DEFAULT_DOMAIN);
  const rows = records.map((record) => [...toRow(record, nowMs), ...(hasDomains ? [record.spec.domain] : [])]);
  return toTable(hasDomains ? [...HEADER, 'DOMAIN'] : HEADER, rows);
}

function toRow({ spec, createdAt }: IpRecord, nowMs: number): string[] {
  const { address, pool, holder } = spec;
  const state = toStateText(spec, nowMs);
  return [address, pool.name, state, toHolderText(holder), holder.interface, holder.node, toAgeText(createdAt, nowMs)];
}
