import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { FreshRecords } from './fresh-records.ts';

/**
 * Reads the records that we made and that no watch has shown. Call it before an object is let go without a record: one that is there
 * would stay for ever. No request unless the watch is late by more than 30 s. True: one was found, look again.
 */
export async function findLateRecords(
  isOwn: (record: IpRecord) => boolean,
  { records, ledger }: { readonly records: FreshRecords; readonly ledger: Pick<Ledger, 'get'> },
): Promise<boolean> {
  let isFound = false;
  for (const late of records.unconfirmed(isOwn)) {
    const record = await ledger.get(late.name);
    if (record !== null && isOwn(record)) {
      records.wrote(record);
      isFound = true;
    } else records.released(late);
  }
  return isFound;
}
