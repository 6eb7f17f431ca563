import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';

/** Counts the addresses that are or may be in use. An address in cooldown does not keep the pool: its record protects the address without it. */
export async function countHeld(ledger: Pick<Ledger, 'takenOf'>, pool: string): Promise<number> {
  return (await ledger.takenOf(pool)).filter(({ state }) => isHeldState(state)).length;
}
