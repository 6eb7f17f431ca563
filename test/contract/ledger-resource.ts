import { expect } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Reason } from '#pkg/errors/reasons.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';

/** An empty ledger that is removed at the end of the block. */
export interface LedgerResource extends AsyncDisposable {
  readonly ledger: Ledger;
  /** Simulates a restart of the process; `ledger` is the new one. Only for ledgers inside a process. */
  reopen?(): Promise<void>;
}

export type MakeLedger = () => Promise<LedgerResource>;

export async function taken(ledger: Ledger, spec: RecordSpec): Promise<IpRecord> {
  const outcome = await ledger.create(spec);
  if (!outcome.taken) throw new Error(`${spec.address} is taken already`);
  return outcome.record;
}

export async function amended(ledger: Ledger, seen: IpRecord, next: RecordSpec): Promise<IpRecord> {
  const outcome = await ledger.amend(seen, next);
  if (!outcome.done) throw new Error(`${seen.name} is ${outcome.because}`);
  return outcome.record;
}

export async function expectFailure(promise: Promise<unknown>, reason: Reason): Promise<IpamError> {
  const thrown = await promise.then(
    () => null,
    (cause: unknown) => cause,
  );
  expect(thrown).toBeInstanceOf(IpamError);
  expect(thrown).toMatchObject({ reason });
  return thrown as IpamError;
}
