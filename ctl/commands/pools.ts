import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderPools } from '#ctl/render/render-pools.ts';

export async function pools(session: Session): Promise<ExitCode> {
  show(session, await session.client.pools(), renderPools);
  return 0;
}
