import type { DatabaseSync } from 'node:sqlite';

export function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (thrown) {
    // A full disk ends the transaction by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw thrown;
  }
}
