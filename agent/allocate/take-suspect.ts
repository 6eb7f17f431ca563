import { throwIfAbandoned, writeLimits } from '#agent/calls/call.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { SuspectProbe } from './suspect-probe.ts';
import { draftRecord, type Taking } from './take-address.ts';

/** Each try costs a read and up to three rounds of probing. */
const MOST_TRIES = 8;

/**
 * The last resort of a full pool: an address whose holder is only suspected to be gone (rule 3). It is probed before
 * anything is written: if its holder is alive, its record must stay as it is.
 */
export async function takeSuspect(view: PoolView, taking: Taking, probe: SuspectProbe): Promise<IpRecord | null> {
  // Another call may be able to probe these.
  const unknown = new Set<bigint>();
  try {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      throwIfAbandoned(taking.call);
      const value = view.suspects.next(taking.nowMs());
      if (value === null) return null;
      unknown.add(value);
      const taken = await takeOver(value, view.pool, taking, probe);
      if (taken !== 'unknown') unknown.delete(value);
      if (typeof taken === 'object') return taken;
    }
    return null;
  } finally {
    for (const value of unknown) view.suspects.giveBack(value);
  }
}

/** Returns the record, or why it was not taken. */
async function takeOver(
  value: bigint,
  pool: Pool,
  taking: Taking,
  probe: SuspectProbe,
): Promise<IpRecord | 'in-use' | 'unknown'> {
  const { ledger, call } = taking;
  const seen = await ledger.get(recordName({ family: pool.family, value }, pool.domain));
  if (seen?.spec.state !== 'Suspect') return 'in-use';
  const next = draftRecord(pool, value, taking);
  const answering = await probe.whoAnswers(next, pool, call);
  if (answering !== 'silence') return answering === 'answer' ? 'in-use' : 'unknown';
  const outcome = await ledger.takeOver(seen, next, writeLimits(call));
  return outcome.done ? outcome.record : 'in-use';
}
