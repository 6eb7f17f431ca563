import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { AbandonedCreates } from './abandoned-creates.ts';
import type { FreshRecords } from './fresh-records.ts';
import type { Ending } from './take-address.ts';

/** A create without an answer may make its record yet: it is looked for again and again. */
const LANDING_MS = 1_000;

interface LandingDeps {
  readonly abandoned: AbandonedCreates;
  readonly records: FreshRecords;
  readonly ledger: Pick<Ledger, 'get'>;
}

/** Reads the records that creates without an answer may still make (rule 5). `again`: one is there. Null: none can come any more. */
export async function findLanding(
  uid: string,
  isOwn: (record: IpRecord) => boolean,
  { abandoned, records, ledger }: LandingDeps,
): Promise<Ending | null> {
  const landing = abandoned.of(uid);
  for (const { name } of landing) {
    const record = await ledger.get(name);
    if (record === null || !isOwn(record)) continue;
    records.wrote(record);
    return 'again';
  }
  return landing.length > 0 ? LANDING_MS : null;
}
