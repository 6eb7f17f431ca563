import { NameIndex } from '#controller/cluster-view/name-index.ts';

/** Which IPAllocations wait for a record of another holder to change or to go. */
export class HeldAddresses {
  readonly #recordOf = new Map<string, string>();
  readonly #byRecord = new NameIndex();

  add(key: string, record: string): void {
    this.forget(key);
    this.#recordOf.set(key, record);
    this.#byRecord.add(record, key);
  }

  forget(key: string): void {
    const record = this.#recordOf.get(key);
    if (record === undefined) return;
    this.#recordOf.delete(key);
    this.#byRecord.remove(record, key);
  }

  waitingFor(record: string): readonly string[] {
    return [...this.#byRecord.get(record)];
  }
}
