import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord, RecordState } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-name.ts';

const RELEASED: readonly RecordState[] = ['Allocated', 'Suspect'];

/** As deploy/admission-policy.yaml has it. Said before anything is tried: what the API server refuses would be owed, and tried again without end. */
export function refuseReleaseBy(node: string): RefuseRelease {
  return (record) => {
    const why = objectionOf(record, node);
    if (why === null) return null;
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
  return RELEASED.includes(state)
    ? null
    : `its record is ${state}, and the agent of a cluster releases what is Allocated or Suspect only`;
}
