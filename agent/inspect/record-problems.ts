import type { IsOwn } from '#agent/node/is-own.ts';
import { lookAtNetns } from '#agent/node/netns-look.ts';
import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import type { Finding } from '#pkg/agentapi/admin.ts';
import { describeHolder } from '#pkg/record/holder.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { findStoredProblems } from '#pkg/record/record-problems.ts';

/** Inconsistencies: each record is compared with its pool and holder, and those of this host with their sandbox. */
export async function findRecordProblems(
  records: readonly IpRecord[],
  catalog: CatalogSnapshot,
  isOwn: IsOwn,
): Promise<Finding[]> {
  const findings: Finding[] = findStoredProblems(records, catalog, describeHolder);
  for (const record of records) {
    const { netns } = record.spec.holder;
    if (record.spec.state !== 'Allocated' || !isOwn(record) || (await lookAtNetns(netns)) !== 'gone') continue;
    findings.push({
      kind: 'vanished-netns',
      subject: record.spec.address,
      message: `held by ${describeHolder(record)}, but its network namespace ${netns} is gone`,
    });
  }
  return findings;
}
