import { IpamError } from '#pkg/errors/ipam-error.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { ObjectTable } from '#pkg/kube/objects/object-table.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import { parseRecordName } from '#pkg/record/record-metadata.ts';

/** What is read of a record here. */
export const TABLE_COLUMNS = ['Name', 'POOL', 'STATE', 'NODE'] as const;

/** The names of a pool's records, or of all, in code-unit order. */
export function namesIn(table: ObjectTable, pool: string | undefined): string[] {
  return rowsOf(table, pool)
    .map(({ name }) => name)
    .sort();
}

export function takenIn(table: ObjectTable, pool: string): TakenAddress[] {
  return rowsOf(table, pool).map(({ name, state: text, node }) => {
    const state = RECORD_STATES.find((known) => known === text);
    const named = parseRecordName(name);
    if (state === undefined || named === null) {
      throw new IpamError('io-failure', `the record ${quote(name)} has a name or a state that cannot be read`);
    }
    return { ...named.address, domain: named.domain, state, node };
  });
}

interface Row {
  readonly name: string;
  readonly state: unknown;
  readonly node: string;
}

/**
 * By the column, which is the spec: the label that the rows were found by may be the hash of another pool's name too. The
 * node is only ever a hint.
 */
function rowsOf({ columns, rows }: ObjectTable, pool: string | undefined): Row[] {
  const at = { name: placeOf('Name', columns), pool: placeOf('POOL', columns), state: placeOf('STATE', columns) };
  const node = columns.indexOf('NODE');
  return rows
    .filter((cells) => pool === undefined || cells[at.pool] === pool)
    .map((cells) => ({ name: String(cells[at.name]), state: cells[at.state], node: String(cells[node] ?? '') }));
}

/** The columns are those of the CRD, and another version of the CRD may be installed. */
function placeOf(column: string, columns: readonly string[]): number {
  const place = columns.indexOf(column);
  if (place < 0)
    throw new IpamError('bad-config', `the CRD of IPRecord has no column ${column}; is it of this version?`);
  return place;
}
