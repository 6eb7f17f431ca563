import { describe } from 'vitest';
import { describeConcurrency } from './concurrency-contract.ts';
import { describeCreate } from './create-contract.ts';
import type { MakeLedger } from './ledger-resource.ts';
import { describeModel } from './model-contract.ts';
import { describeQueries } from './query-contract.ts';
import { describeRelease } from './release-contract.ts';
import { describeUpdate } from './update-contract.ts';

/** The contract of every Ledger, tested through the port alone. */
export function describeLedger(name: string, makeLedger: MakeLedger): void {
  describe(`ledger: ${name}`, () => {
    describeCreate(makeLedger);
    describeUpdate(makeLedger);
    describeRelease(makeLedger);
    describeQueries(makeLedger);
    describeConcurrency(makeLedger);
    describeModel(makeLedger);
  });
}
