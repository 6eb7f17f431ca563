import { LocalLedger } from '#pkg/ledger/local-ledger.ts';
import { CommitQueue } from './commit-queue.ts';
import { toLedgerFailure } from './sqlite-failure.ts';
import { openDatabase } from './sqlite-open.ts';
import { SqliteStore } from './sqlite-store.ts';
import { prepareTransaction } from './sqlite-transaction.ts';

/**
 * The ledger of a host without Kubernetes, in one file whose directory exists already.
 * The caller holds the lock of the data directory (`lockDataDirectory`).
 */
export async function openSqliteLedger(file: string, options: { now?: () => Date } = {}): Promise<LocalLedger> {
  const db = openDatabase(file);
  const transact = prepareTransaction(db);
  const store = new SqliteStore(db, file);
  const commits = new CommitQueue((work) => {
    try {
      transact(work);
    } catch (thrown) {
      store.forgetVersions();
      throw toLedgerFailure(file, thrown);
    }
  });
  return new LocalLedger(store, commits, options.now ?? (() => new Date()));
}
