import type { LostAddress } from '#agent/node/answered-store.ts';
import type { IsOwn } from '#agent/node/is-own.ts';
import type { LookAtNetns } from '#agent/node/netns-look.ts';
import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import type { Finding } from '#pkg/agentapi/admin.ts';
import { describeOutliving } from '#pkg/record/describe-outliving.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { findStoredProblems } from '#pkg/record/record-problems.ts';

/** Inconsistencies: each record is compared with its pool and holder, and those of this host with their sandbox. */
export async function findRecordProblems(
  records: readonly IpRecord[],
  catalog: CatalogSnapshot,
  isOwn: IsOwn,
  look: LookAtNetns,
): Promise<Finding[]> {
  const findings: Finding[] = findStoredProblems(records, catalog, describeHolder);
  for (const record of records) {
    if (record.spec.state !== 'Allocated' || !isOwn(record)) continue;
    const { netns } = record.spec.holder;
    const seen = await look(record.spec.holder);
    if (seen !== 'gone' && seen !== 'path-gone') continue;
    findings.push({
      kind: 'vanished-netns',
      subject: record.spec.address,
      message: `held by ${describeHolder(record)}, but its network namespace ${netns} is gone`,
      records: [record.name],
    });
  }
  return findings;
}

export function toOutlivingFinding(record: IpRecord): Finding {
  const message = `held by ${describeHolder(record)}, ${describeOutliving(record)}`;
  return { kind: 'outliving-netns', subject: record.spec.address, message, records: [record.name] };
}

export function toLostFinding({ record, now }: LostAddress): Finding {
  const message = `used by ${describeHolder(record)}, whose record was lost, while ${describeHolder(now)} has the record: delete one of the two pods`;
  return { kind: 'in-use-twice', subject: record.spec.address, message };
}
