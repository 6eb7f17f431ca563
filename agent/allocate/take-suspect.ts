import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { recordName } from '#pkg/crd/record-name.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { type Call, throwIfAbandoned, writeLimits } from '../call.ts';
import type { AddressProbe } from './address-probe.ts';
import { type Drafting, draftRecord } from './draft-record.ts';
import type { PoolView } from './pool-view.ts';

/** Each costs a read and a whole probe window. */
const MOST_TRIES = 8;

export interface TakingSuspect {
  readonly ledger: Ledger;
  readonly probe: AddressProbe;
  readonly want: Drafting & { readonly call: Call };
}

/**
 * The last resort of a full pool: an address whose holder is only suspected to be gone (rule 3). It is probed before
 * anything is written: where its holder lives on, its record must stay as it is.
 */
export async function takeSuspect(view: PoolView, { ledger, probe, want }: TakingSuspect): Promise<IpRecord | null> {
  const { pool } = view;
  for (const value of view.suspects.slice(0, MOST_TRIES)) {
    throwIfAbandoned(want.call);
    const seen = await ledger.get(recordName({ family: pool.family, value }, pool.domain));
    if (seen?.spec.state !== 'Suspect') continue;
    const next = draftRecord(pool, value, want);
    if (!(await probe.isSilent(next, pool, want.call))) continue;
    const outcome = await ledger.takeOver(seen, next, writeLimits(want.call));
    if (outcome.done) return outcome.record;
  }
  return null;
}
