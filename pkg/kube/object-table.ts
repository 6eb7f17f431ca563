import { isMap } from './kube-object.ts';
import { type Page, readPageHead, readRows } from './object-list.ts';
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
  const columns = readRows(value['columnDefinitions'])?.map((column) => (isMap(column) ? String(column['name']) : ''));
  const items = readRows(value['rows'])?.map((row) => (isMap(row) ? row['cells'] : null));
  if (columns === undefined || items === undefined || !areCells(items)) {
    return failure('BadAnswer', 'the table has no rows of cells');
  }
  return { ok: true, object: { columns, items, ...head } };
}

function areCells(items: readonly unknown[]): items is (readonly unknown[])[] {
  return items.every((cells) => Array.isArray(cells));
}
