import { type Family, parseAddress } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { hasSandboxTraces, type IpRecord, ownedKey, recordFamily } from './ip-record.ts';

export interface RecordProblem {
  readonly kind: 'duplicate-holder' | 'in-doubt' | 'reserved-address' | 'outside-pool' | 'unknown-pool';
  readonly subject: string;
  readonly message: string;
  /** The names of the records that it is about. */
  readonly records: readonly string[];
}

export interface Pools {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly reserved: Readonly<Record<Family, IntervalSet>>;
}

type Describe = (record: IpRecord) => string;

/** What records alone show to be wrong: two for one holder, one in doubt, or one that its pool would not give out any more. */
export function findStoredProblems(records: readonly IpRecord[], pools: Pools, describe: Describe): RecordProblem[] {
  return [
    ...findDuplicates(records, describe),
    ...records.flatMap((record) => findDoubt(record, describe)),
    ...records.flatMap((record) => findPoolProblem(record, pools, describe)),
  ];
}

/** Rule 4: one holder, one record per stable key and uid. */
function findDuplicates(records: readonly IpRecord[], describe: Describe): RecordProblem[] {
  const held = Map.groupBy(
    records.filter(({ spec }) => spec.state === 'Allocated'),
    ownedKey,
  );
  return [...held.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length === 1) return [];
    const addresses = group.map(({ spec }) => spec.address).join(', ');
    return [
      {
        kind: 'duplicate-holder' as const,
        subject: addresses,
        message: `${describe(first)} holds ${group.length} addresses of one family`,
        records: group.map(({ name }) => name),
      },
    ];
  });
}

/** Rule 6: its pod is gone, and it is not proven that its sandbox is gone. */
function findDoubt(record: IpRecord, describe: Describe): RecordProblem[] {
  const { state, holder, address } = record.spec;
  if (state === 'Allocated' || !hasSandboxTraces(record.spec)) return [];
  const where = holder.node === '' ? '' : ` on ${holder.node}`;
  const message = `it is ${state}: ${describe(record)} has ended, and its sandbox${where} is not proven gone`;
  return [{ kind: 'in-doubt', subject: address, message, records: [record.name] }];
}

function findPoolProblem(record: IpRecord, { pools, reserved }: Pools, describe: Describe): RecordProblem[] {
  const { spec } = record;
  const about = { subject: spec.address, records: [record.name] };
  const { value } = parseAddress(spec.address);
  const pool = pools.get(spec.pool.name);
  if (pool === undefined) {
    return [{ ...about, kind: 'unknown-pool', message: `its pool ${spec.pool.name} does not exist` }];
  }
  if (spec.domain !== pool.domain) {
    const message = `it was taken in domain ${spec.domain}, but pool ${pool.name} is in ${pool.domain} now`;
    return [{ ...about, kind: 'outside-pool', message }];
  }
  if (reserved[recordFamily(record)].contains(value)) {
    return [{ ...about, kind: 'reserved-address', message: `${describe(record)} holds it, and it is reserved now` }];
  }
  if (pool.addresses.contains(value)) return [];
  return [{ ...about, kind: 'outside-pool', message: `it is no longer among the addresses of pool ${pool.name}` }];
}
