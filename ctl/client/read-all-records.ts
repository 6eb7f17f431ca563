import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { AdminClient, RecordsQuery } from './admin-client.ts';

export async function readAllRecords(client: AdminClient, query: RecordsQuery): Promise<IpRecord[]> {
  const records: IpRecord[] = [];
  let after: string | undefined;
  do {
    const page = await client.records({ ...query, after });
    if (page.next !== undefined && page.next === after) {
      throw new IpamError('internal', `the agent's list does not get past ${after}`);
    }
    records.push(...page.records);
    after = page.next;
  } while (after !== undefined);
  return records;
}
