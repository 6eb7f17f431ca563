import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { isStickyHolder } from '#pkg/crd/sticky-holder.ts';

const ANY = { enableStatefulSet: true, enableKubevirtStaticIP: true };

export interface ConflictReleaseRefusal {
  /** Spiderpool's own: 521 switched off, 522 a workload that keeps its addresses. */
  readonly status: 521 | 522;
  readonly message: string;
}

/** Why the addresses of a container may not be given back on the word that they are in conflict; null if they may. */
export function refuseConflictRelease(records: readonly IpRecord[], isEnabled: boolean): ConflictReleaseRefusal | null {
  if (!isEnabled) {
    const message = 'releasing addresses in conflict is switched off by ENABLED_RELEASE_CONFLICT_IPS';
    return { status: 521, message };
  }
  const sticky = records.find(({ spec }) => isStickyHolder(spec.holder, ANY));
  if (sticky === undefined) return null;
  const { namespace, name } = sticky.spec.holder;
  const message = `${sticky.spec.address} belongs to ${namespace}/${name}, which keeps its addresses, also in conflict`;
  return { status: 522, message };
}
