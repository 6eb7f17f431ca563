import type { IpRecord } from '#pkg/record/ip-record.ts';
import { renderRecords } from './render-records.ts';

/** The message of a container that failed holds 80 lines. */
const MOST_SHOWN = 20;

const ADVICE = `Without ipledger these addresses are not given back, and others may take them. Delete what has them, or wait until
another IPAM has taken them over; then try again.
`;

export function renderInUse(records: readonly IpRecord[], nowMs: number): string {
  if (records.length === 0) return 'No address is in use.\n';
  const more = records.length > MOST_SHOWN ? `… and ${records.length - MOST_SHOWN} more\n` : '';
  const count = records.length === 1 ? '1 address is' : `${records.length} addresses are`;
  return `${renderRecords(records.slice(0, MOST_SHOWN), nowMs)}${more}\n${count} in use. ${ADVICE}`;
}
