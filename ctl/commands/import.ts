import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderImport } from '#ctl/render/render-import.ts';
import { type AdoptionSource, adopt } from '#pkg/adopt/adopt.ts';
import { ownUserName } from '#pkg/adopt/own-user-name.ts';
import { SPIDERPOOL } from '#pkg/adopt/spiderpool.ts';
import { VITISTACK } from '#pkg/adopt/vitistack/vitistack.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type InClusterOptions, importFromInCluster } from './import-in-cluster.ts';

export const IMPORT_SOURCES = ['spiderpool', 'vitistack', 'in-cluster'] as const;

export interface ImportOptions extends InClusterOptions {
  readonly from: (typeof IMPORT_SOURCES)[number];
}

const SOURCES: Readonly<Record<Exclude<ImportOptions['from'], 'in-cluster'>, AdoptionSource>> = {
  spiderpool: SPIDERPOOL,
  vitistack: VITISTACK,
};

/** Where the manifests of deploy/ put agents and controller. */
const USUAL_NAMESPACE = 'ipledger';

/** Takes over the addresses that another address manager gave out, and lets us begin. Exit code 1: there is an obstacle. */
export async function importState(session: Session, options: ImportOptions): Promise<ExitCode> {
  const { dryRun, from } = options;
  if (from === 'in-cluster') return importFromInCluster(session, options);
  const { namespace = USUAL_NAMESPACE } = options;
  const { cluster, terminal } = session;
  if (cluster === undefined) throw new IpamError('internal', 'an import needs the API server');
  const marker = { adoptedAt: new Date(terminal.nowMs()).toISOString(), adoptedBy: await ownUserName(cluster) };
  const onProgress = (made: number, all: number) => {
    if (made % 500 === 0) terminal.complain(`${made} of ${all} records made\n`);
  };
  const answer = await adopt(cluster, SOURCES[from], { dryRun, namespace, marker, onProgress });
  show(session, answer, (adoption) => renderImport(adoption, from));
  return answer.outcome === 'refused' ? 1 : 0;
}
