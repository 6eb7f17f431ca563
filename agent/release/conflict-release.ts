import { type IpRecord, isStickyHolder, type StickySwitches } from '#pkg/record/ip-record.ts';

const ANY: StickySwitches = { enableStatefulSet: true, enableKubevirtStaticIP: true };

export interface ConflictReleaseOptions {
  /** May a plugin that found a conflict itself give the addresses back? */
  readonly releasesConflictIPs?: boolean;
  /** Which workloads keep their addresses. */
  readonly sticky?: StickySwitches;
}

export interface ConflictReleaseRefusal {
  /** Spiderpool's own: 521 switched off, 522 a workload that keeps its addresses. */
  readonly status: 521 | 522;
  readonly message: string;
}

/** Why the addresses of a container may not be given back on the word that they are in conflict; null if they may. */
export function refuseConflictRelease(
  records: readonly IpRecord[],
  { releasesConflictIPs = true, sticky = ANY }: ConflictReleaseOptions,
): ConflictReleaseRefusal | null {
  if (!releasesConflictIPs) {
    const message = 'releasing addresses in conflict is switched off by ENABLED_RELEASE_CONFLICT_IPS';
    return { status: 521, message };
  }
  const kept = records.find(({ spec }) => isStickyHolder(spec.holder, sticky));
  return kept === undefined ? null : keptInConflict(kept);
}

export function keptInConflict({ spec }: IpRecord): ConflictReleaseRefusal {
  const { namespace, name } = spec.holder;
  const message = `${spec.address} belongs to ${namespace}/${name}, which keeps its addresses, also in conflict`;
  return { status: 522, message };
}
