import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import { damagedFile } from './sqlite-failure.ts';
import { type Row, rowToRecord, toRow } from './sqlite-row.ts';

export function checkPages(db: DatabaseSync, file: string): void {
  const said = db
    .prepare('PRAGMA integrity_check(10)')
    .all()
    .map((row) => String(row['integrity_check']));
  if (said.join() !== 'ok') throw damagedFile(file, said.join('; '));
}

/** A row whose name, columns and spec disagree would hide a record, or hold one address under two names. */
export function checkRows(db: DatabaseSync, file: string): void {
  const latest = Number(db.prepare('SELECT latest FROM version').get()?.['latest']);
  for (const row of db.prepare('SELECT * FROM record').iterate()) {
    const problem = rowProblem(row, latest);
    if (problem !== null) throw damagedFile(file, problem);
  }
}

function rowProblem(row: Row, latest: number): string | null {
  try {
    const record = rowToRecord(row);
    const { address, domain } = record.spec;
    if (record.name !== recordName(parseAddress(address), domain)) return `the record ${record.name} holds ${address}`;
    if (!(Number(record.resourceVersion) <= latest))
      return `the record ${record.name} is newer than the counter of versions`;
    const { spec: _, ...columns } = toRow(record);
    const wrong = Object.keys(columns).find((column) => !isDeepStrictEqual(columns[column], row[column]));
    return wrong === undefined ? null : `the record ${record.name} disagrees with its column ${wrong}`;
  } catch (thrown) {
    return toIpamError(thrown).message;
  }
}
