import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN } from '#pkg/record/record-metadata.ts';
import { DELETES } from '#pkg/record/transition-table.ts';

/** Refuses what the admission policy would refuse: such a release would stay in the journal and be retried for ever. */
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
  return DELETES['own-agent'].includes(state)
    ? null
    : `its record is ${state}, and the agent of a cluster releases what is Allocated or Suspect only`;
}
