import type { AnsweredStore } from '#agent/node/answered-store.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

interface KnownRecordsDeps {
  readonly ledger: Pick<Ledger, 'get'>;
  readonly index: Pick<NodeIndex, 'all'>;
  readonly answered: Pick<AnsweredStore, 'all'>;
  readonly node: string;
}

/**
 * The records of this node that the agent knows of, each read by its name, one after the other. A list by the label of the node costs
 * the API server a walk over the records of all nodes.
 */
export async function readKnown({ ledger, index, answered, node }: KnownRecordsDeps): Promise<IpRecord[]> {
  const names = new Set([...index.all(), ...answered.all()].map(({ name }) => name));
  const found: IpRecord[] = [];
  for (const name of names) {
    const record = await ledger.get(name);
    if (record?.spec.holder.node === node) found.push(record);
  }
  return found;
}
