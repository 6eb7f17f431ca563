import { parseAddress } from '#pkg/ip/address.ts';
import type { Refusal, TakenAddress } from '#pkg/ledger/ledger.ts';
import { holderKey, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

/** A ledger must hold the records that it answered with, and nothing else. */
export class LedgerModel {
  readonly #records = new Map<string, IpRecord>();

  put(record: IpRecord): void {
    this.#records.set(record.name, record);
  }

  remove(name: string): void {
    this.#records.delete(name);
  }

  get(name: string): IpRecord | null {
    return this.#records.get(name) ?? null;
  }

  refusalOf(seen: IpRecord): Refusal | null {
    const now = this.get(seen.name);
    if (now === null) return 'gone';
    return now.uid === seen.uid && now.resourceVersion === seen.resourceVersion ? null : 'changed';
  }

  where(isWanted: (record: IpRecord) => boolean): IpRecord[] {
    return [...this.#records.values()].filter(isWanted).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  byHolder(key: string): IpRecord[] {
    return this.where((record) => holderKey(record.spec.holder, recordFamily(record)) === key);
  }

  takenOf(pool: string): TakenAddress[] {
    return this.where(({ spec }) => spec.pool.name === pool).map(({ spec }) => ({
      ...parseAddress(spec.address),
      domain: spec.domain,
      state: spec.state,
      node: spec.holder.node,
    }));
  }
}
