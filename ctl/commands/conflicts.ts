import { readAllRecords } from '#ctl/client/read-all-records.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderConflicts } from '#ctl/render/render-conflicts.ts';
import type { RecordsAnswer } from '#pkg/agentapi/admin.ts';

/** Exit code 1 if there are any, as with `check`. */
export async function conflicts(session: Session): Promise<ExitCode> {
  const records = (await readAllRecords(session.client, {})).filter(({ spec }) => spec.state === 'Quarantined');
  const answer: RecordsAnswer = { records };
  show(session, answer, (shown) => renderConflicts(shown.records, session.terminal.nowMs()));
  return records.length === 0 ? 0 : 1;
}
