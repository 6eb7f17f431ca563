import { renderCheck } from './render-check.ts';
import { type ExitCode, type Session, show } from './session.ts';

export async function check(session: Session): Promise<ExitCode> {
  const answer = await session.client.check();
  show(session, answer, renderCheck);
  return answer.findings.length === 0 ? 0 : 1;
}
