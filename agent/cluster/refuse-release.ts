import type { NetnsLook } from '#agent/node/netns-look.ts';
import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import type { Pods } from '#agent/sources/pods.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { describeDoubtfulRelease } from '#pkg/record/describe-doubt.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';
import { DELETES } from '#pkg/record/transition-table.ts';

interface SandboxEvidence {
  readonly pods: Pick<Pods, 'read' | 'known'>;
  readonly look: (record: IpRecord) => Promise<NetnsLook>;
}

/**
 * Refuses what the admission policy would refuse, because such a release would stay in the journal and be retried for ever;
 * the address of a pod that lives in its sandbox (rule 9), and one whose sandbox is not proven gone (rule 6).
 */
export function refuseReleaseBy(node: string, evidence: SandboxEvidence): RefuseRelease {
  return async (record, althoughInDoubt) => {
    const why = objectionOf(record, node);
    if (why === null) return await refuseInUse(record, evidence, althoughInDoubt);
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

async function refuseInUse(
  record: IpRecord,
  { pods, look }: SandboxEvidence,
  althoughInDoubt: boolean,
): Promise<IpamError | null> {
  const { namespace, name, uid = '' } = record.spec.holder;
  const seen = await look(record);
  if (seen === 'gone') return null;
  const pod = await pods.read({ namespace, name: pods.known(uid)?.name ?? name, uid });
  const isAlive = pod?.uid === uid && pod.isAlive;
  if (isAlive && seen === 'there') return inUseError(record);
  if (althoughInDoubt || (!isAlive && seen === 'bare')) return null;
  return doubtError(record, seen);
}

function inUseError(record: IpRecord): IpamError {
  const message = `${record.spec.address} is not released: ${describeHolder(record)} is alive, and so is its sandbox`;
  return new IpamError('bad-input', message, { details: 'Delete the pod first: its address comes back with it.' });
}

function doubtError(record: IpRecord, seen: NetnsLook): IpamError {
  const { address, holder } = record.spec;
  if (seen !== 'there') {
    const message = `${address} is not released: this agent cannot prove that its sandbox is gone`;
    return new IpamError('bad-input', message, { details: describeDoubtfulRelease(record) });
  }
  const message = `${address} is not released: no living pod has it, but its network namespace ${holder.netns} is still there`;
  const { containerID = '' } = holder;
  const cure = `Remove the sandbox with "crictl stopp ${containerID}" and "crictl rmp ${containerID}": the address comes back with it.`;
  return new IpamError('bad-input', message, { details: `${cure}\n${describeDoubtfulRelease(record)}` });
}
