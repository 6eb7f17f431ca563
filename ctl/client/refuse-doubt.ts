import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { NODES } from '#pkg/kube/objects/core-resources.ts';
import { isOutOfService } from '#pkg/kube/objects/out-of-service.ts';
import { toLedgerError } from '#pkg/ledger/kubernetes/kubernetes-failure.ts';
import { describeDoubtfulRelease } from '#pkg/record/describe-doubt.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Throws where it is not proven that the sandbox is gone. From here only the loss of its node proves that. */
export async function refuseDoubt(client: KubeClient, record: IpRecord): Promise<void> {
  const { address, holder } = record.spec;
  if (await isLost(client, holder.node)) return;
  const where = holder.node === '' ? '' : ` on node ${holder.node}`;
  const message = `${address} is not released: no living pod has it, and its sandbox${where} is not proven gone`;
  const details = [...describeLook(holder.node), describeDoubtfulRelease(record)].join('\n');
  throw new IpamError('bad-input', message, { details });
}

async function isLost(client: KubeClient, node: string): Promise<boolean> {
  if (node === '') return false;
  const found = await client.get(NODES, { name: node });
  if (found.ok) return isOutOfService(found.object);
  if (found.because === 'NotFound') return true;
  throw toLedgerError(`read node ${node}`, found);
}

function describeLook(node: string): string[] {
  if (node === '') return [];
  return [
    `Look on node ${node}: "ipledgerctl gc --dry-run" says whether the sandbox is there, "ipledgerctl gc" settles what is gone.`,
    `If the machine is lost, say so: delete Node ${node}, or taint it with node.kubernetes.io/out-of-service.`,
  ];
}
