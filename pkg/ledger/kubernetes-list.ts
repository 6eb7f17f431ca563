import type { IpRecord } from '#pkg/crd/ip-record.ts';
import type { RecordReader } from './kubernetes-reader.ts';
import { namesIn } from './kubernetes-table.ts';
import type { RecordQuery } from './ledger.ts';

const READS_AT_ONCE = 32;

/**
 * One page. The API server cannot start after a name, and its own page tokens die within minutes, so the names are read as
 * a table and then only the records of this page: memory grows by a table row per record, not by an object. A node has few
 * records, which come whole.
 */
export async function listRecords(reader: RecordReader, query: RecordQuery): Promise<IpRecord[]> {
  const { pool, node, after, limit } = query;
  const isWanted = ({ name, spec }: IpRecord) =>
    (after === undefined || name > after) && (pool === undefined || spec.pool.name === pool);
  if (node !== undefined) {
    const records = await reader.byNode(node);
    return records
      .filter(isWanted)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit);
  }
  const names = namesIn(await reader.table(pool), pool).filter((name) => after === undefined || name > after);
  const page: IpRecord[] = [];
  for (let at = 0; at < names.length && page.length < limit; ) {
    const some = names.slice(at, at + Math.min(READS_AT_ONCE, limit - page.length));
    at += some.length;
    const found = await Promise.all(some.map((name) => reader.get(name)));
    page.push(...found.filter((record) => record !== null).filter(isWanted));
  }
  return page;
}
