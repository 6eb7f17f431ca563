import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderCheck } from '#ctl/render/render-check.ts';

export async function check(session: Session): Promise<ExitCode> {
  const answer = await session.client.check();
  show(session, answer, renderCheck);
  return answer.findings.length === 0 ? 0 : 1;
}
