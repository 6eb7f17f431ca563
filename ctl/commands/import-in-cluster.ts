import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderInCluster } from '#ctl/render/render-in-cluster.ts';
import { importInCluster } from '#pkg/adopt/in-cluster.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

export interface InClusterOptions {
  readonly dryRun: boolean;
  readonly pool?: string;
  readonly namespace?: string;
}

/** Makes a pool and records from a pool of Cluster API's in-cluster provider. Exit code 1: an address has no record. */
export async function importFromInCluster(session: Session, options: InClusterOptions): Promise<ExitCode> {
  const { dryRun, pool: name, namespace } = options;
  if (session.cluster === undefined) throw new IpamError('internal', 'an import needs the API server');
  if (name === undefined) throw new IpamError('bad-input', '--from in-cluster needs --pool NAME');
  const wish = { name, dryRun, ...(namespace === undefined ? {} : { namespace }) };
  const answer = await importInCluster(session.cluster, wish);
  show(session, answer, renderInCluster);
  return answer.collisions.length === 0 ? 0 : 1;
}
