import { readAllRecords } from '#ctl/client/read-all-records.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderCheck } from '#ctl/render/render-check.ts';
import { renderReport } from '#ctl/render/render-report.ts';

export async function check(session: Session): Promise<ExitCode> {
  if (session.output === 'report') return await report(session);
  const answer = await session.client.check();
  show(session, answer, renderCheck);
  return answer.findings.length === 0 ? 0 : 1;
}

/** The records are read before the check. So a release by the report fails where the check has seen a newer version. */
async function report({ client, terminal }: Session): Promise<ExitCode> {
  const asOfMs = terminal.nowMs();
  const records = await readAllRecords(client, {});
  const answer = await client.check();
  terminal.write(renderReport(answer, records, asOfMs));
  return answer.findings.length === 0 ? 0 : 1;
}
