import { isMap } from './kube-object.ts';
import { type Page, readPageHead } from './object-list.ts';
import { failure, type Outcome } from './outcome.ts';

/** Rows as kubectl prints them, without the objects: the cheapest way to learn names and a few fields of very many. */
export interface ObjectTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly resourceVersion: string;
}

export interface TablePage extends Page<readonly unknown[]> {
  readonly columns: readonly string[];
}

export function readTablePage(value: unknown): Outcome<TablePage> {
  const head = readPageHead(value);
  if (head === null || !isMap(value) || value['kind'] !== 'Table') {
    return failure('BadAnswer', 'the answer is not a table');
  }
  const { columnDefinitions, rows } = value;
  if (!Array.isArray(columnDefinitions) || !Array.isArray(rows)) return failure('BadAnswer', 'a table without rows');
  const items = rows.map((row) => row?.cells);
  if (!items.every((cells) => Array.isArray(cells))) return failure('BadAnswer', 'a row of the table has no cells');
  return { ok: true, object: { columns: columnDefinitions.map((column) => String(column?.name)), items, ...head } };
}
