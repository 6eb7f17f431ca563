import { readAllRecords } from '#ctl/client/read-all-records.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderInUse } from '#ctl/render/render-in-use.ts';
import type { RecordsAnswer } from '#pkg/agentapi/admin.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';

/** A Retained address waits for a future pod; no pod uses it now. */
const LIVE: readonly RecordState[] = ['Allocated', 'Suspect'];

/** Asked before ipledger is taken out of a cluster (deploy/chart). */
export async function inUse(session: Session): Promise<ExitCode> {
  const records = await readAllRecords(session.client, {});
  const answer: RecordsAnswer = { records: records.filter(({ spec }) => LIVE.includes(spec.state)) };
  show(session, answer, (found) => renderInUse(found.records, session.terminal.nowMs()));
  return answer.records.length === 0 ? 0 : 1;
}
