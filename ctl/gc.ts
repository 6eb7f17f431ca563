import { renderCollect } from './render-collect.ts';
import { type ExitCode, type Session, show } from './session.ts';

export async function gc(session: Session, options: { dryRun: boolean }): Promise<ExitCode> {
  show(session, await session.client.collect(options), renderCollect);
  return 0;
}
