import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS } from '#pkg/kube/objects/core-resources.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';

const AT = { namespace: 'ipledger', name: 'ipledger-adopted' };

/** The marker says that every address of another address manager has its record. Agents give out nothing before it exists. */
export interface AdoptionMarker {
  readonly adoptedAt: string;
  readonly adoptedBy: string;
}

export async function readMarker(client: KubeClient): Promise<AdoptionMarker | null> {
  const found = await client.get(CONFIG_MAPS, AT);
  if (!found.ok && found.because === 'NotFound') return null;
  if (!found.ok) throw toLedgerError(`read the ConfigMap ${AT.namespace}/${AT.name}`, found);
  const data = isMap(found.object['data']) ? found.object['data'] : {};
  return { adoptedAt: String(data['adoptedAt'] ?? 'unknown'), adoptedBy: String(data['adoptedBy'] ?? 'unknown') };
}

/** Returns false if the marker existed already. */
export async function writeMarker(client: KubeClient, marker: AdoptionMarker): Promise<boolean> {
  const made = await client.create(CONFIG_MAPS, { metadata: AT, data: { ...marker } });
  if (made.ok) return true;
  if (made.because === 'AlreadyExists') return false;
  if (made.because === 'NotServed' || made.because === 'NotFound') {
    throw new IpamError('bad-config', `the namespace ${AT.namespace} does not exist: apply deploy/ first`);
  }
  throw toLedgerError(`create the ConfigMap ${AT.namespace}/${AT.name}`, made);
}
