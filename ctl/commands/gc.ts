import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderCollect } from '#ctl/render/render-collect.ts';

export async function gc(session: Session, options: { dryRun: boolean }): Promise<ExitCode> {
  show(session, await session.client.collect(options), renderCollect);
  return 0;
}
