import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toAgeText } from './duration.ts';
import { toHolderText } from './holder-text.ts';
import { toStateText } from './state-text.ts';
import { toFacts } from './table.ts';

export function renderRecord(record: IpRecord, nowMs: number): string {
  const { spec } = record;
  const { holder } = spec;
  const facts = toFacts([
    ['holder', `${toHolderText(holder)} (${holder.kind})`],
    ['interface', holder.interface],
    ['network', holder.network],
    ['node', holder.node],
    ['container', holder.containerID],
    ['netns', holder.netns],
    ['owner', holder.owner === undefined ? undefined : `${holder.owner.kind} ${holder.owner.name}`],
    ['pool', spec.pool.name],
    ['gateway', spec.gateway],
    ['domain', spec.domain],
    ['since', `${record.createdAt} (${toAgeText(record.createdAt, nowMs)} ago)`],
  ]);
  return `${spec.address}/${spec.prefix} is ${toStateText(spec, nowMs)}\n${facts}`;
}
