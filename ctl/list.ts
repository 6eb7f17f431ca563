import type { RecordsAnswer } from '#pkg/agentapi/admin.ts';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { AdminClient, RecordsQuery } from './admin-client.ts';
import { renderRecords } from './render-records.ts';
import { type ExitCode, type Session, show } from './session.ts';

export async function list(session: Session, query: RecordsQuery): Promise<ExitCode> {
  const answer: RecordsAnswer = { records: await readAllPages(session.client, query) };
  show(session, answer, ({ records }) => renderRecords(records, session.terminal.nowMs()));
  return 0;
}

export async function readAllPages(client: AdminClient, query: RecordsQuery): Promise<IpRecord[]> {
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
