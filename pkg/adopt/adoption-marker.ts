import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS } from '#pkg/kube/objects/core-resources.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';

const NAMESPACE = 'ipledger';

/** The marker says that every address of another address manager has its record. Nothing is given out before it exists. */
export interface AdoptionMarker {
  readonly adoptedAt: string;
  readonly adoptedBy: string;
}

export async function readMarker(client: KubeClient, name: string): Promise<AdoptionMarker | null> {
  const found = await client.get(CONFIG_MAPS, { namespace: NAMESPACE, name });
  if (!found.ok && found.because === 'NotFound') return null;
  if (!found.ok) throw toLedgerError(`read the ConfigMap ${NAMESPACE}/${name}`, found);
  const data = isMap(found.object['data']) ? found.object['data'] : {};
  return { adoptedAt: String(data['adoptedAt'] ?? 'unknown'), adoptedBy: String(data['adoptedBy'] ?? 'unknown') };
}

/** Returns false if the marker existed already. */
export async function writeMarker(client: KubeClient, name: string, marker: AdoptionMarker): Promise<boolean> {
  const made = await client.create(CONFIG_MAPS, { metadata: { namespace: NAMESPACE, name }, data: { ...marker } });
  if (made.ok) return true;
  if (made.because === 'AlreadyExists') return false;
  if (made.because === 'NotServed' || made.because === 'NotFound') {
    throw new IpamError('bad-config', `the namespace ${NAMESPACE} does not exist: apply deploy/ first`);
  }
  throw toLedgerError(`create the ConfigMap ${NAMESPACE}/${name}`, made);
}
