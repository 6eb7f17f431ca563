import { renderPools } from './render-pools.ts';
import { type ExitCode, type Session, show } from './session.ts';

export async function pools(session: Session): Promise<ExitCode> {
  show(session, await session.client.pools(), renderPools);
  return 0;
}
