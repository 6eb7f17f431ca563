import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderImport } from '#ctl/render/render-import.ts';
import { adopt } from '#pkg/adopt/adopt.ts';
import { ownUserName } from '#pkg/adopt/own-user-name.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Takes over the addresses that Spiderpool gave out, and lets agents begin. Exit code 1: there is an obstacle. */
export async function importState(session: Session, { dryRun }: { readonly dryRun: boolean }): Promise<ExitCode> {
  const { cluster, terminal } = session;
  if (cluster === undefined) throw new IpamError('internal', 'an import needs the API server');
  const marker = { adoptedAt: new Date(terminal.nowMs()).toISOString(), adoptedBy: await ownUserName(cluster) };
  const onProgress = (made: number, all: number) => {
    if (made % 500 === 0) terminal.complain(`${made} of ${all} records made\n`);
  };
  const answer = await adopt(cluster, { dryRun, marker, onProgress });
  show(session, answer, renderImport);
  return answer.outcome === 'refused' ? 1 : 0;
}
