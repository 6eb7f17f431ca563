import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { RecordQuery } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { toLedgerError } from './kubernetes-failure.ts';
import type { RecordReader } from './kubernetes-reader.ts';
import { namesIn } from './kubernetes-table.ts';
import { IP_RECORDS, toRecord } from './kubernetes-write.ts';

/** The revision of the store now, as records count it. */
export async function readRevision(client: KubeClient): Promise<string> {
  const revision = await client.revision(IP_RECORDS);
  if (!revision.ok) throw toLedgerError('read the revision of the store', revision);
  return revision.object;
}

/** A record that is not in a list because it cannot be read, and why. */
export type OnUnreadable = (name: string, why: string) => void;

const READS_AT_ONCE = 32;

/**
 * One page. The API server cannot start after a name, and its own page tokens die within minutes, so the names are read as
 * a table and then only the records of this page: memory grows by a table row per record, not by an object. A node has few
 * records, which come whole. One record that cannot be read must not hide all others.
 */
export async function listRecords(
  reader: RecordReader,
  query: RecordQuery,
  onUnreadable: OnUnreadable,
): Promise<IpRecord[]> {
  const { pool, node, after, limit } = query;
  const isWanted = ({ name, spec }: IpRecord) =>
    (after === undefined || name > after) && (pool === undefined || spec.pool.name === pool);
  if (node !== undefined) {
    return readable(await reader.objectsOfNode(node), onUnreadable)
      .filter(isWanted)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit);
  }
  const names = namesIn(await reader.table(pool), pool).filter((name) => after === undefined || name > after);
  const page: IpRecord[] = [];
  for (let at = 0; at < names.length && page.length < limit; ) {
    const some = names.slice(at, at + Math.min(READS_AT_ONCE, limit - page.length));
    at += some.length;
    const found = await Promise.all(some.map((name) => reader.getObject(name)));
    const objects = found.filter((object) => object !== null);
    page.push(...readable(objects, onUnreadable).filter(isWanted));
  }
  return page;
}

function readable(objects: readonly KubeObject[], onUnreadable: OnUnreadable): IpRecord[] {
  return objects.flatMap((object) => {
    try {
      return [toRecord(object)];
    } catch (thrown) {
      onUnreadable(object.metadata.name, toIpamError(thrown).message);
      return [];
    }
  });
}
