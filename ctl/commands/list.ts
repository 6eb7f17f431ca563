import type { AdminClient, RecordsQuery } from '#ctl/client/admin-client.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderRecords } from '#ctl/render/render-records.ts';
import type { RecordsAnswer } from '#pkg/agentapi/admin.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

export async function list(session: Session, query: RecordsQuery): Promise<ExitCode> {
  const answer: RecordsAnswer = { records: await readAllRecords(session.client, query) };
  show(session, answer, ({ records }) => renderRecords(records, session.terminal.nowMs()));
  return 0;
}

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
