import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS } from '#pkg/kube/objects/core-resources.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';

/** The marker says that every address of another address manager has its record. Nothing is given out before it exists. */
export interface AdoptionMarker {
  readonly adoptedAt: string;
  readonly adoptedBy: string;
}

/** The namespace is the one where agents and controller run: each agent watches for the marker of its own namespace. */
export interface MarkerPlace {
  readonly namespace: string;
  readonly name: string;
}

export async function readMarker(client: KubeClient, place: MarkerPlace): Promise<AdoptionMarker | null> {
  const found = await client.get(CONFIG_MAPS, place);
  if (!found.ok && found.because === 'NotFound') return null;
  if (!found.ok) throw toLedgerError(`read the ConfigMap ${place.namespace}/${place.name}`, found);
  const data = isMap(found.object['data']) ? found.object['data'] : {};
  return { adoptedAt: String(data['adoptedAt'] ?? 'unknown'), adoptedBy: String(data['adoptedBy'] ?? 'unknown') };
}

/** Returns false if the marker existed already. */
export async function writeMarker(client: KubeClient, place: MarkerPlace, marker: AdoptionMarker): Promise<boolean> {
  const { namespace, name } = place;
  const made = await client.create(CONFIG_MAPS, { metadata: { namespace, name }, data: { ...marker } });
  if (made.ok) return true;
  if (made.because === 'AlreadyExists') return false;
  if (made.because === 'NotServed' || made.because === 'NotFound') {
    const cure = 'install ipledger first, or name its namespace with --namespace';
    throw new IpamError('bad-config', `the namespace ${namespace} does not exist: ${cure}`);
  }
  throw toLedgerError(`create the ConfigMap ${namespace}/${name}`, made);
}
