import type { Address } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { AnsweredStore } from './answered-store.ts';

interface Entry {
  readonly record: IpRecord;
  readonly writtenAtMs: number;
  /** An ADD of this process was answered with it, for the holder that it has. */
  readonly isAnswered: boolean;
}

/**
 * This node's records as the agent last wrote or listed them. A hint, never a proof: what is found here
 * is confirmed by the ledger before a call is answered with it.
 */
export class NodeIndex {
  readonly #byName = new Map<string, Entry>();
  readonly #byContainer = new Map<string, Set<string>>();
  readonly #byUid = new Map<string, Set<string>>();
  readonly #nowMs: () => number;
  readonly #answered: Pick<AnsweredStore, 'keep'> | null;

  constructor(nowMs: () => number, answered: Pick<AnsweredStore, 'keep'> | null = null) {
    this.#nowMs = nowMs;
    this.#answered = answered;
  }

  get size(): number {
    return this.#byName.size;
  }

  put(record: IpRecord): void {
    const isAnswered = this.isAnswered(record);
    this.#remove(record.name);
    this.#byName.set(record.name, { record, writtenAtMs: this.#nowMs(), isAnswered });
    const { containerID, uid } = record.spec.holder;
    if (containerID !== undefined) addTo(this.#byContainer, containerID, record.name);
    if (uid !== undefined) addTo(this.#byUid, uid, record.name);
  }

  /** Puts a record that was just listed. It counts as no write: looks at it that were made before stay valid, unless the record has changed. */
  refresh(record: IpRecord): void {
    const known = this.#byName.get(record.name)?.record;
    if (known?.uid !== record.uid || known.resourceVersion !== record.resourceVersion) this.put(record);
  }

  /** Only if it is still the record that was seen: the name may have another record by now. */
  drop({ name, uid, resourceVersion }: IpRecord): void {
    const known = this.#byName.get(name)?.record;
    if (known?.uid === uid && known.resourceVersion === resourceVersion) this.#remove(name);
  }

  #remove(name: string): void {
    const entry = this.#byName.get(name);
    if (entry === undefined) return;
    this.#byName.delete(name);
    const { containerID, uid } = entry.record.spec.holder;
    if (containerID !== undefined) removeFrom(this.#byContainer, containerID, name);
    if (uid !== undefined) removeFrom(this.#byUid, uid, name);
  }

  /** The records of one container, on one interface or on all. */
  ofContainer(containerID: string, interfaceName?: string): IpRecord[] {
    const records = this.#named(this.#byContainer.get(containerID));
    return interfaceName === undefined ? records : records.filter((it) => it.spec.holder.interface === interfaceName);
  }

  ofHolderUid(uid: string): IpRecord[] {
    return this.#named(this.#byUid.get(uid));
  }

  ofNetwork(network: string): Entry[] {
    return [...this.#byName.values()].filter((entry) => entry.record.spec.holder.network === network);
  }

  markAnswered({ name, uid }: IpRecord): void {
    const entry = this.#byName.get(name);
    if (entry?.record.uid !== uid) return;
    this.#byName.set(name, { ...entry, isAnswered: true });
    this.#answered?.keep(entry.record);
  }

  /** A record outlives its holder: what the one before was answered says nothing about the next. */
  isAnswered({ name, uid, spec }: IpRecord): boolean {
    const entry = this.#byName.get(name);
    return entry?.record.uid === uid && entry.record.spec.holder.uid === spec.holder.uid && entry.isAnswered;
  }

  /** The uid of the record of an address; null where this node has none. */
  uidOf(address: Address, domain: string): string | null {
    return this.#byName.get(recordName(address, domain))?.record.uid ?? null;
  }

  writtenAtMs(name: string): number | null {
    return this.#byName.get(name)?.writtenAtMs ?? null;
  }

  all(): IpRecord[] {
    return [...this.#byName.values()].map((entry) => entry.record);
  }

  #named(names: ReadonlySet<string> | undefined): IpRecord[] {
    return [...(names ?? [])].flatMap((name) => this.#byName.get(name)?.record ?? []);
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, name: string): void {
  const names = sets.get(key);
  if (names === undefined) sets.set(key, new Set([name]));
  else names.add(name);
}

function removeFrom(sets: Map<string, Set<string>>, key: string, name: string): void {
  const names = sets.get(key);
  names?.delete(name);
  if (names?.size === 0) sets.delete(key);
}
