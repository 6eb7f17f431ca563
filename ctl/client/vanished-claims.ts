import type { Finding } from '#pkg/agentapi/admin.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { type IpRecord, isHeldState } from '#pkg/record/ip-record.ts';

/**
 * Records whose IPAddressClaim is gone, for example after a move to another cluster. The controller never ends them, because the machine
 * may live on with the address.
 */
export async function findVanishedClaims(
  client: KubeClient,
  records: readonly IpRecord[],
): Promise<readonly Finding[]> {
  const ofClaims = records.filter(({ spec }) => spec.holder.kind === 'IPAddressClaim' && isHeldState(spec.state));
  if (ofClaims.length === 0) return [];
  const listed = await client.list(CLAIMS);
  // Cluster API was removed: so were all claims.
  if (!listed.ok && listed.because !== 'NotServed') throw toLedgerError('list the IPAddressClaims', listed);
  const claims = listed.ok ? listed.object.items.map(({ metadata }) => metadata) : [];
  const alive = new Map(claims.map(({ namespace, name, uid }) => [`${namespace}/${name}`, uid]));
  return ofClaims.filter((record) => isVanished(record, alive)).map(toFinding);
}

function isVanished({ spec: { holder } }: IpRecord, alive: ReadonlyMap<string, string>): boolean {
  const uid = alive.get(`${holder.namespace}/${holder.name}`);
  return uid === undefined || (holder.uid !== undefined && holder.uid !== uid);
}

function toFinding({ name, spec: { address, holder } }: IpRecord): Finding {
  const message = `the IPAddressClaim ${holder.namespace}/${holder.name} (uid ${holder.uid ?? 'unknown'}) is gone and did not give it back; if no machine has it any more, delete the IPAddress that shows it, if there is one, and run: ipledgerctl release ${address}`;
  return { kind: 'vanished-claim', subject: address, message, records: [name] };
}
