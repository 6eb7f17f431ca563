import { readSubnets } from '#ctl/client/cluster-subnets.ts';
import { type ExitCode, type Session, show } from '#ctl/client/session.ts';
import { renderSubnets } from '#ctl/render/render-subnets.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

export async function subnets(session: Session): Promise<ExitCode> {
  if (session.cluster === undefined) throw new IpamError('internal', 'only the API server has subnets');
  show(session, await readSubnets(session.cluster), renderSubnets);
  return 0;
}
