import { parseAddress } from '#pkg/ip/address.ts';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import type { CreateLimits, CreateOutcome, Ledger, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import type { Holder, IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { Journal } from './journal.ts';

/** Rule 5: a write with an unknown outcome is in the journal before its caller can try another name. */
export function journalled(ledger: Ledger, journal: Journal, now: () => Date): Ledger {
  const noteAbandoned = async (name: string, holder: Holder, isChange: boolean, spared?: string): Promise<void> => {
    const { uid = '', containerID = '', interface: nic } = holder;
    const at = now().toISOString();
    const entry = { kind: 'abandoned', name, uid, containerID, interface: nic, isChange, at } as const;
    await journal.write(spared === undefined ? entry : { ...entry, spared });
  };
  const watched = async <T>(holder: Holder, isChange: boolean, write: () => Promise<T>): Promise<T> => {
    try {
      return await write();
    } catch (thrown) {
      const name = abandonedName(thrown);
      if (name !== null) await noteAbandoned(name, holder, isChange);
      throw thrown;
    }
  };
  const change = (holder: Holder, write: () => Promise<UpdateOutcome>) => watched(holder, true, write);
  return {
    create: async (spec: RecordSpec, limits?: CreateLimits): Promise<CreateOutcome> => {
      const outcome = await watched(spec.holder, false, () => ledger.create(spec, limits));
      if (outcome.mayStillLand === true) {
        const name = recordName(parseAddress(spec.address), spec.domain);
        await noteAbandoned(name, spec.holder, false, outcome.taken ? outcome.record.uid : undefined);
      }
      return outcome;
    },
    takeOver: (seen: IpRecord, next, limits) => change(next.holder, () => ledger.takeOver(seen, next, limits)),
    amend: (seen: IpRecord, next, limits) => change(next.holder, () => ledger.amend(seen, next, limits)),
    release: (seen, limits) => ledger.release(seen, limits),
    get: (name) => ledger.get(name),
    byHolder: (key) => ledger.byHolder(key),
    byNode: (node) => ledger.byNode(node),
    list: (query) => ledger.list(query),
    takenOf: (pool) => ledger.takenOf(pool),
    watchFreed: (pool, wake) => ledger.watchFreed(pool, wake),
    close: () => ledger.close(),
  };
}
