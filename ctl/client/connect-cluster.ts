import { KubeClient } from '#pkg/kube/client/client.ts';
import { type AccessSource, accessFrom } from '#pkg/kube/client/kube-config.ts';
import type { AdminClient } from './admin-client.ts';
import { openClusterClient } from './cluster-client.ts';

/** Uses the rights of the caller; the role `ipledger-ctl` is enough. */
export function connectCluster(source: AccessSource): { readonly client: KubeClient; readonly admin: AdminClient } {
  const client = new KubeClient(accessFrom(source), { userAgent: 'ipledgerctl' });
  return { client, admin: openClusterClient(client) };
}
