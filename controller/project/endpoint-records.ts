import type { IpRecord } from '#pkg/record/ip-record.ts';

/**
 * The records that an endpoint shows, the most relevant first. `held` are those of one holder. A record of the living pod tells
 * what the pod has; its age tells nothing, because a Retained record that was taken over is older than one that was left.
 */
export function shownRecords(held: readonly IpRecord[], livingUid: string | null): IpRecord[] {
  const own = held.filter(({ spec }) => livingUid !== null && spec.holder.uid === livingUid);
  return (own.length > 0 ? own : held).toSorted(compareRelevance);
}

const RANK = { Allocated: 0, Suspect: 1, Retained: 2, Cooling: 3, Quarantined: 3 } as const;

function compareRelevance(a: IpRecord, b: IpRecord): number {
  if (a.spec.state !== b.spec.state) return RANK[a.spec.state] - RANK[b.spec.state];
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
