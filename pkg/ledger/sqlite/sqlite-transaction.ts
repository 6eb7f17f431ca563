import type { DatabaseSync } from 'node:sqlite';

export function inTransaction(db: DatabaseSync, work: () => void): void {
  prepareTransaction(db)(work);
}

/** The same for many transactions: the statements around the work are parsed once. */
export function prepareTransaction(db: DatabaseSync): (work: () => void) => void {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  return (work) => {
    begin.run();
    try {
      work();
      commit.run();
    } catch (thrown) {
      // A full disk ends the transaction by itself.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw thrown;
    }
  };
}
