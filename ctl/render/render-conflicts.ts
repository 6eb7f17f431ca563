import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toAgeText } from './duration.ts';
import { toTable } from './table.ts';

const HEADER = ['ADDRESS', 'POOL', 'USED BY', 'SEEN ON', 'NODE', 'SINCE', 'TRIED AGAIN AT'];
const HINT = '\nTo try one again now: ipledgerctl release ADDRESS (in a cluster with --kubeconfig)\n';

export function renderConflicts(records: readonly IpRecord[], nowMs: number): string {
  if (records.length === 0) return 'No conflicts.\n';
  return (
    toTable(
      HEADER,
      records.map((record) => toRow(record, nowMs)),
    ) + HINT
  );
}

function toRow({ spec, createdAt }: IpRecord, nowMs: number): string[] {
  const { address, pool, holder, until = '' } = spec;
  return [address, pool.name, holder.name, holder.interface, holder.node, toAgeText(createdAt, nowMs), until];
}
