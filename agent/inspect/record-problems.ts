import type { Finding } from '#pkg/agentapi/admin.ts';
import { holderKey } from '#pkg/crd/holder-key.ts';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { recordFamily } from '#pkg/crd/record-family.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { lookAtNetns } from '../netns-look.ts';
import type { CatalogSnapshot } from '../pool-catalog.ts';
import { describeHolder } from './describe-holder.ts';

/** What an operator should look at: each record against its pool, its holder and its sandbox. */
export async function findRecordProblems(records: readonly IpRecord[], catalog: CatalogSnapshot): Promise<Finding[]> {
  const findings = [...findDuplicates(records), ...records.flatMap((record) => findPoolProblem(record, catalog))];
  for (const record of records) {
    const { netns } = record.spec.holder;
    if (record.spec.state !== 'Allocated' || (await lookAtNetns(netns)) !== 'gone') continue;
    findings.push({
      kind: 'vanished-netns',
      subject: record.spec.address,
      message: `held by ${describeHolder(record)}, but its network namespace ${netns} is gone`,
    });
  }
  return findings;
}

/** Rule 4: one holder, one record per stable key and uid. */
function findDuplicates(records: readonly IpRecord[]): Finding[] {
  const held = Map.groupBy(
    records.filter(({ spec }) => spec.state === 'Allocated'),
    (record) => `${holderKey(record.spec.holder, recordFamily(record))} ${record.spec.holder.uid}`,
  );
  return [...held.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length === 1) return [];
    const addresses = group.map(({ spec }) => spec.address).join(', ');
    return [
      {
        kind: 'duplicate-holder' as const,
        subject: addresses,
        message: `${describeHolder(first)} holds ${group.length} addresses of one family`,
      },
    ];
  });
}

function findPoolProblem(record: IpRecord, { pools, reserved }: CatalogSnapshot): Finding[] {
  const { spec } = record;
  const { value } = parseAddress(spec.address);
  const pool = pools.get(spec.pool.name);
  if (pool === undefined) {
    return [{ kind: 'unknown-pool', subject: spec.address, message: `its pool ${spec.pool.name} does not exist` }];
  }
  if (spec.domain !== pool.domain) {
    const message = `it was taken in domain ${spec.domain}, but pool ${pool.name} is in ${pool.domain} now`;
    return [{ kind: 'outside-pool', subject: spec.address, message }];
  }
  if (reserved[recordFamily(record)].contains(value)) {
    return [
      {
        kind: 'reserved-address',
        subject: spec.address,
        message: `${describeHolder(record)} holds it, and it is reserved now`,
      },
    ];
  }
  if (pool.addresses.contains(value)) return [];
  return [
    {
      kind: 'outside-pool',
      subject: spec.address,
      message: `it is no longer among the addresses of pool ${pool.name}`,
    },
  ];
}
