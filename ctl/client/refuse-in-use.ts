import { decodePod } from '#pkg/crd/decode-pod.ts';
import { isAlive } from '#pkg/crd/pod-life.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { IP_ALLOCATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { hasSandboxTraces, type IpRecord, isMachineHolder, type MachineHolderKind } from '#pkg/record/ip-record.ts';
import { refuseDoubt } from './refuse-doubt.ts';

/** The objects of which each stands for a machine with the address. */
const MACHINE_HOLDERS: Readonly<Record<MachineHolderKind, Resource>> = {
  IPAddressClaim: CLAIMS,
  IPAllocation: IP_ALLOCATIONS,
};

/**
 * Throws where the address is in use, and where it may be. Only the agent of the node sees a sandbox: here a living pod is
 * enough to refuse (rule 9), and the absence of the pod proves nothing (rule 6).
 */
export async function refuseInUse(client: KubeClient, record: IpRecord, althoughInDoubt = false): Promise<void> {
  const { holder } = record.spec;
  if (!hasSandboxTraces(record.spec) || holder.kind === 'Container') return;
  if (isMachineHolder(holder)) return await refuseMachine(client, record, MACHINE_HOLDERS[holder.kind]);
  await refuseLivingPod(client, record);
  if (!althoughInDoubt) await refuseDoubt(client, record);
}

async function refuseLivingPod(client: KubeClient, { spec: { address, holder } }: IpRecord): Promise<void> {
  if (holder.uid === undefined) return;
  const listed = await client.list(PODS, {
    namespace: holder.namespace,
    fieldSelector: `spec.nodeName=${holder.node}`,
  });
  if (!listed.ok) throw toLedgerError(`list the pods of namespace ${holder.namespace}`, listed);
  const pod = listed.object.items.map(decodePod).find(({ uid }) => uid === holder.uid);
  if (pod === undefined || !isAlive(pod)) return;
  const message = `${address} is not released: pod ${pod.namespace}/${pod.name} is alive on node ${pod.node} and uses it`;
  throw new IpamError('bad-input', message, { details: 'Delete the pod first: its address comes back with it.' });
}

/** While the object exists, its machine has the address, also if another operator serves the object. */
async function refuseMachine(
  client: KubeClient,
  { spec: { address, holder } }: IpRecord,
  resource: Resource,
): Promise<void> {
  const { namespace, name, uid } = holder;
  if (uid === undefined) return;
  const text = `${resource.kind} ${namespace}/${name}`;
  const found = await client.get(resource, { namespace, name }, { form: 'metadata' });
  if (!found.ok && found.because !== 'NotFound' && found.because !== 'NotServed') {
    throw toLedgerError(`read ${text}`, found);
  }
  if (!found.ok || found.object.metadata.uid !== uid) return;
  const message = `${address} is not released: ${text} exists, and its machine uses it`;
  throw new IpamError('bad-input', message, {
    details: `Delete the ${resource.kind} first: its address comes back with it.`,
  });
}
