import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import type { Pods } from '#agent/sources/pods.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';
import { DELETES } from '#pkg/record/transition-table.ts';

interface SandboxEvidence {
  readonly pods: Pick<Pods, 'read' | 'known'>;
  readonly look: (record: IpRecord) => Promise<NetnsLook>;
}

/**
 * Refuses what the admission policy would refuse, because such a release would stay in the journal and be retried for ever;
 * and the address of a pod that lives in its sandbox (rule 9).
 */
export function refuseReleaseBy(node: string, evidence: SandboxEvidence): RefuseRelease {
  return async (record) => {
    const why = objectionOf(record, node);
    if (why === null) return (await isInUse(record, evidence)) ? inUseError(record) : null;
    const { address, domain } = record.spec;
    const where = domain === DEFAULT_DOMAIN ? '' : ` --domain ${domain}`;
    const details = `Ask the API server for it: ipledgerctl release ${address}${where} --kubeconfig FILE`;
    return new IpamError('bad-input', `${address} is not released: ${why}`, { details });
  };
}

function objectionOf({ spec }: IpRecord, node: string): string | null {
  const { holder, state } = spec;
  if (holder.node !== node) {
    const whose = holder.node === '' ? 'no node' : `node ${holder.node}`;
    return `its record is of ${whose}, and the agent of node ${node} releases those of its own node only`;
  }
  return DELETES['own-agent'].includes(state)
    ? null
    : `its record is ${state}, and the agent of a cluster releases what is Allocated or Suspect only`;
}

async function isInUse(record: IpRecord, { pods, look }: SandboxEvidence): Promise<boolean> {
  const { namespace, name, uid = '' } = record.spec.holder;
  if ((await look(record)) !== 'there') return false;
  const pod = await pods.read({ namespace, name: pods.known(uid)?.name ?? name, uid });
  return pod?.uid === uid && pod.isAlive;
}

function inUseError(record: IpRecord): IpamError {
  const message = `${record.spec.address} is not released: ${describeHolder(record)} is alive, and so is its sandbox`;
  return new IpamError('bad-input', message, { details: 'Delete the pod first: its address comes back with it.' });
}
