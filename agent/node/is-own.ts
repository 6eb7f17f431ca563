import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Is this record of this host? Of others no file here says anything, and their records are theirs to release. */
export type IsOwn = (record: IpRecord) => boolean;

/** Without Kubernetes the ledger is this host's alone, whatever the host was called when a record was written. */
export const ALL_ARE_OWN: IsOwn = () => true;

export function isOfNode(node: string): IsOwn {
  return ({ spec }) => spec.holder.node === node;
}
