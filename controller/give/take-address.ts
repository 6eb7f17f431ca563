import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { Address } from '#pkg/ip/address.ts';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { FreshRecords } from './fresh-records.ts';
import type { PoolSpaces } from './pool-spaces.ts';

/** `again`: look what comes next. A number: try again in so many ms. `stop`: an event will wake the object. */
export type Ending = 'again' | 'stop' | number;

export const SOON_MS = 200;
export const NOT_LEADER_MS = 2_000;

interface TakeDeps {
  readonly spaces: PoolSpaces;
  readonly records: FreshRecords;
  readonly ledger: Pick<Ledger, 'create'>;
  readonly isLeader: () => boolean;
}

interface Taker {
  readonly draft: (address: Address) => RecordSpec;
  readonly isOwn: (record: IpRecord) => boolean;
  /** The create of that record may still be done, whatever its answer says about now (rule 5). */
  readonly onAbandoned?: (record: string) => void;
}

/** Creates the record of the lowest address that looks free. What others have is found out by the create (rule 1). */
export async function takeLowest(
  facts: PoolFacts,
  { draft, isOwn, onAbandoned = () => {} }: Taker,
  deps: TakeDeps,
): Promise<Ending> {
  const { spaces, records, ledger, isLeader } = deps;
  if (facts.pool === null) return 'again';
  if (!isLeader()) return NOT_LEADER_MS;
  const address = spaces.choose(facts);
  if (address === null) return 'again';
  let ending: Parameters<typeof spaces.settle>[2] = 'failed';
  try {
    const { taken, record, mayStillLand } = await ledger.create(draft(address));
    if (mayStillLand === true) onAbandoned(recordName(address, facts.pool.domain));
    const isOurs = taken || (record !== null && isOwn(record));
    ending = isOurs ? 'ours' : 'theirs';
    if (isOurs && record !== null) records.wrote(record);
    return 'again';
  } catch (thrown) {
    const name = abandonedName(thrown);
    if (name !== null) onAbandoned(name);
    throw thrown;
  } finally {
    spaces.settle(facts.pool, address, ending);
  }
}

/** Creates the record of exactly this address. If another holder has it, the next look sees that. */
export async function takeExactly(address: Address, { draft }: Taker, deps: Omit<TakeDeps, 'spaces'>): Promise<Ending> {
  const { records, ledger, isLeader } = deps;
  if (!isLeader()) return NOT_LEADER_MS;
  const { record } = await ledger.create(draft(address));
  if (record !== null) records.wrote(record);
  return record === null ? SOON_MS : 'again';
}
