import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isHeldState } from '#pkg/record/states.ts';

/** Addresses that somebody has or may still have. Those that only rest hold no pool: their records go on protecting them without it. */
export async function countHeld(ledger: Pick<Ledger, 'takenOf'>, pool: string): Promise<number> {
  return (await ledger.takenOf(pool)).filter(({ state }) => isHeldState(state)).length;
}
