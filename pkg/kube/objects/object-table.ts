import { isMap } from './kube-object.ts';
import { type Page, readPageHead, readRows } from './object-list.ts';
import { failure, type Outcome } from './outcome.ts';

/** Rows as kubectl prints them, without the objects. This is the cheapest way to read names and a few fields of many objects. */
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

/** Leaves columns out, page by page: only the first page of a table says what its columns are. */
export class ColumnCutter {
  readonly #keep: readonly string[];
  #places: readonly number[] = [];

  constructor(keep: readonly string[]) {
    this.#keep = keep;
  }

  cut(page: TablePage): TablePage {
    if (page.columns.length > 0) {
      this.#places = this.#keep.map((column) => page.columns.indexOf(column)).filter((place) => place >= 0);
    }
    const cut = <T>(cells: readonly T[]) =>
      this.#places.flatMap((place) => (place in cells ? [cells[place] as T] : []));
    return { ...page, columns: page.columns.length > 0 ? cut(page.columns) : [], items: page.items.map(cut) };
  }
}

function areCells(items: readonly unknown[]): items is (readonly unknown[])[] {
  return items.every((cells) => Array.isArray(cells));
}
