import type { IpRecord } from '#pkg/record/ip-record.ts';

/** Spiderpool keeps no more in one pool; a status string of half a megabyte would travel to every node. */
export const MOST_ENTRIES = 5_000;

/** `status.allocatedIPs` as Spiderpool writes it: a JSON text with sorted keys. Undefined while it is empty, and when it is too long. */
export function formatAllocatedIps(held: readonly IpRecord[]): string | undefined {
  if (held.length === 0 || held.length > MOST_ENTRIES) return undefined;
  const entries = held.map(({ spec: { address, holder } }): [string, object] => [
    address,
    { pod: `${holder.namespace}/${holder.name}`, podUid: holder.uid ?? '' },
  ]);
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))));
}
