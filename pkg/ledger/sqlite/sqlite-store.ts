import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { RecordQuery, TakenAddress } from '#pkg/ledger/ledger.ts';
import type { RecordStore } from '#pkg/ledger/record-store.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toLedgerFailure } from './sqlite-failure.ts';
import { type Row, rowToRecord, toRow, toTakenAddress } from './sqlite-row.ts';

/** Taken from the file at once: a counter that is written each time would be a page more in every commit. */
const VERSIONS_AT_ONCE = 1_000;
const COLUMNS = 'name, uid, resource_version, created_at, spec';

function prepareAll(db: DatabaseSync) {
  return {
    get: db.prepare(`SELECT ${COLUMNS} FROM record WHERE name = ?`),
    // Plain INSERT on purpose: the primary key is the last guard of "one record per name".
    insert: db.prepare(`INSERT INTO record VALUES
      (:name, :uid, :resource_version, :created_at, :pool, :node, :state, :holder_key, :address, :spec)`),
    update: db.prepare(`UPDATE record SET
      uid = :uid, resource_version = :resource_version, created_at = :created_at, pool = :pool, node = :node,
      state = :state, holder_key = :holder_key, address = :address, spec = :spec WHERE name = :name`),
    delete: db.prepare('DELETE FROM record WHERE name = ?'),
    reserveVersions: db.prepare(`UPDATE version SET latest = latest + ${VERSIONS_AT_ONCE} RETURNING latest`),
    byHolder: db.prepare(`SELECT ${COLUMNS} FROM record WHERE holder_key = ? ORDER BY name`),
    byNode: db.prepare(`SELECT ${COLUMNS} FROM record WHERE node = ? ORDER BY name`),
    list: db.prepare(`SELECT ${COLUMNS} FROM record
      WHERE name > :after AND (:pool IS NULL OR pool = :pool) AND (:node IS NULL OR node = :node)
      ORDER BY name LIMIT :limit`),
    takenOf: db.prepare('SELECT name, address, state, node FROM record WHERE pool = ? ORDER BY address'),
  };
}

export class SqliteStore implements RecordStore {
  readonly #db: DatabaseSync;
  readonly #file: string;
  readonly #statements: ReturnType<typeof prepareAll>;
  #nextVersion = 1;
  #lastReserved = 0;

  constructor(db: DatabaseSync, file: string) {
    this.#db = db;
    this.#file = file;
    this.#statements = prepareAll(db);
  }

  get(name: string): IpRecord | null {
    return this.#read(this.#statements.get, rowToRecord, name)[0] ?? null;
  }

  insert(record: IpRecord): void {
    this.#statements.insert.run(toRow(record));
  }

  update(record: IpRecord): void {
    this.#statements.update.run(toRow(record));
  }

  delete(name: string): void {
    this.#statements.delete.run(name);
  }

  nextVersion(): string {
    if (this.#nextVersion > this.#lastReserved) {
      const [row] = this.#statements.reserveVersions.all();
      this.#lastReserved = Number(row?.['latest']);
      this.#nextVersion = this.#lastReserved - VERSIONS_AT_ONCE + 1;
    }
    const version = String(this.#nextVersion);
    this.#nextVersion += 1;
    return version;
  }

  /** To be called when a transaction failed: what was reserved in it is not reserved. */
  forgetVersions(): void {
    this.#lastReserved = 0;
  }

  byHolder(key: string): IpRecord[] {
    return this.#read(this.#statements.byHolder, rowToRecord, key);
  }

  byNode(node: string): IpRecord[] {
    return this.#read(this.#statements.byNode, rowToRecord, node);
  }

  list({ pool, node, after, limit }: RecordQuery): IpRecord[] {
    const values = { after: after ?? '', pool: pool ?? null, node: node ?? null, limit };
    return this.#read(this.#statements.list, rowToRecord, values);
  }

  takenOf(pool: string): TakenAddress[] {
    return this.#read(this.#statements.takenOf, toTakenAddress, pool);
  }

  /** Everything acknowledged is durable in the write-ahead log already, so a checkpoint that fails loses nothing. */
  close(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
    } finally {
      this.#db.close();
    }
  }

  #read<T>(statement: StatementSync, decode: (row: Row) => T, values: string | Record<string, SQLInputValue>): T[] {
    try {
      const rows = typeof values === 'string' ? statement.all(values) : statement.all(values);
      return rows.map(decode);
    } catch (thrown) {
      throw toLedgerFailure(this.#file, thrown);
    }
  }
}
