import type { RecordsQuery } from '#ctl/client/admin-client.ts';
import { readAllRecords } from '#ctl/client/read-all-records.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderRecords } from '#ctl/render/render-records.ts';
import type { RecordsAnswer } from '#pkg/agentapi/admin.ts';

export async function list(session: Session, query: RecordsQuery): Promise<ExitCode> {
  const answer: RecordsAnswer = { records: await readAllRecords(session.client, query) };
  show(session, answer, ({ records }) => renderRecords(records, session.terminal.nowMs()));
  return 0;
}
