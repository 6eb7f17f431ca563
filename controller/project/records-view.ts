import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client.ts';
import type { KubeObject } from '#pkg/kube/kube-object.ts';
import { Reflector, type Trouble } from '#pkg/kube/reflector.ts';
import { IP_RECORDS, toRecord } from '#pkg/ledger/kubernetes-record.ts';
import { Listeners } from './listeners.ts';
import { type HolderName, RecordIndex } from './record-index.ts';

/** A record that appeared, changed or went: as it was and as it is. Not both are null. */
interface RecordChange {
  readonly before: IpRecord | null;
  readonly after: IpRecord | null;
}

/**
 * The records as far as a watch has told. A record that is marked as deleted is in it until it is gone: its address is not
 * free. Good for showing; whoever decides reads the ledger.
 */
export interface RecordsView {
  readonly synced: Promise<void>;
  all(): Iterable<IpRecord>;
  ofPool(pool: string): readonly IpRecord[];
  ofHolder(holder: HolderName): readonly IpRecord[];
  onChange(listener: (change: RecordChange) => void): Disposable;
}

export interface RecordsViewOptions {
  readonly onTrouble: (trouble: Trouble) => void;
  readonly onUnreadable: (name: string, why: string) => void;
}

export function watchRecords(client: KubeClient, options: RecordsViewOptions): RecordsView & AsyncDisposable {
  const index = new RecordIndex();
  const listeners = new Listeners<RecordChange>();
  const read = (object: KubeObject): IpRecord | null => {
    try {
      return toRecord(object);
    } catch (thrown) {
      options.onUnreadable(object.metadata.name, toIpamError(thrown).message);
      return null;
    }
  };
  const reflector = new Reflector(client, {
    resource: IP_RECORDS,
    onTrouble: options.onTrouble,
    onEvent: (event) => {
      if (event.type === 'Synced') return;
      const after = event.type === 'Deleted' ? null : read(event.object);
      const name = event.type === 'Deleted' ? event.identity.name : event.object.metadata.name;
      const before = after === null ? index.remove(name) : index.put(after);
      if (before !== null || after !== null) listeners.tell({ before, after });
    },
  });
  return {
    synced: reflector.synced,
    all: () => index.all(),
    ofPool: (pool) => index.ofPool(pool),
    ofHolder: (holder) => index.ofHolder(holder),
    onChange: (listener) => listeners.add(listener),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}
