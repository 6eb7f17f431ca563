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
  readonly onAbandoned: (record: string) => void;
}

/** Creates the record of the lowest address that looks free. What others have is found out by the create (rule 1). */
export async function takeLowest(facts: PoolFacts, taker: Taker, deps: TakeDeps): Promise<Ending> {
  const { spaces, records, isLeader } = deps;
  if (facts.pool === null) return 'again';
  if (!isLeader()) return NOT_LEADER_MS;
  const address = spaces.choose(facts);
  if (address === null) return 'again';
  let ending: Parameters<typeof spaces.settle>[2] = 'failed';
  try {
    const { taken, record } = await create(address, taker, deps);
    const isOurs = taken || (record !== null && taker.isOwn(record));
    ending = isOurs ? 'ours' : 'theirs';
    if (isOurs && record !== null) records.wrote(record);
    return 'again';
  } finally {
    spaces.settle(facts.pool, address, ending);
  }
}

async function create(address: Address, { draft, onAbandoned }: Taker, { ledger }: Pick<TakeDeps, 'ledger'>) {
  const spec = draft(address);
  try {
    const outcome = await ledger.create(spec);
    if (outcome.mayStillLand === true) onAbandoned(recordName(address, spec.domain));
    return outcome;
  } catch (thrown) {
    const name = abandonedName(thrown);
    if (name !== null) onAbandoned(name);
    throw thrown;
  }
}

/** Creates the record of exactly this address. If another holder has it, the next look sees that. */
export async function takeExactly(address: Address, taker: Taker, deps: Omit<TakeDeps, 'spaces'>): Promise<Ending> {
  const { records, isLeader } = deps;
  if (!isLeader()) return NOT_LEADER_MS;
  const { record } = await create(address, taker, deps);
  if (record !== null) records.wrote(record);
  return record === null ? SOON_MS : 'again';
}
