import type { ChaosApi } from './chaos-api.ts';
import { ALLOCATIONS, CLAIMS } from './machines.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import type { Sandboxes } from './sandboxes.ts';

const REASONS = ['ClaimVanished', 'AllocationVanished'];

export interface ToldOfRecord {
  readonly reason: string;
  readonly regarding: { readonly uid?: string };
}

/**
 * An operator ends the records of machines that a restore of etcd has forgotten, as the Event says. Without a restore there are no
 * such Events, because nobody here removes finalizers.
 */
export async function endVanished(
  told: readonly ToldOfRecord[],
  api: Pick<ChaosApi, 'list' | 'remove'>,
  sandboxes: Sandboxes,
): Promise<void> {
  const uids = new Set(told.filter(({ reason }) => REASONS.includes(reason)).map(({ regarding }) => regarding.uid));
  if (uids.size === 0) return;
  // First who asks: whoever is not there gave its record back before.
  const asking = [...(await api.list(CLAIMS)), ...(await api.list(ALLOCATIONS))];
  const there = new Set(asking.map(({ metadata }) => metadata.uid));
  const named = (await api.list<SeenRecord>(RECORDS)).filter(({ metadata }) => uids.has(metadata.uid));
  for (const { metadata, spec } of named.filter((record) => !there.has(record.spec.holder.uid ?? ''))) {
    const { kind, namespace, name } = spec.holder;
    const who = `${kind} ${namespace}/${name}`;
    if (!sandboxes.doubts.wentBackSince(0)) sandboxes.accuse(spec.address, `the record of ${who} was left behind`);
    sandboxes.tell(spec.address, `the operator ends the record of ${who}, which an Event names`);
    const preconditions = { uid: metadata.uid };
    await api.remove(`${RECORDS}/${metadata.name}`, { preconditions });
  }
}
