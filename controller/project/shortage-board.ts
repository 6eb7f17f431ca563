import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { Shortage } from '#pkg/autopool/shortage.ts';

/** A text says why it is not known which applications lack addresses. */
export type KnownShortages = readonly Shortage[] | string;

/** Which applications lack addresses, by subnet. It is written into the status of the subnet by its projection. */
export class ShortageBoard {
  readonly #bySubnet = new Map<string, KnownShortages>();
  readonly #listeners = new Listeners<string>();

  of(subnet: string): KnownShortages {
    return this.#bySubnet.get(subnet) ?? [];
  }

  put(subnet: string, known: KnownShortages): void {
    const before = JSON.stringify(this.of(subnet));
    if (known.length === 0) this.#bySubnet.delete(subnet);
    else this.#bySubnet.set(subnet, known);
    if (JSON.stringify(this.of(subnet)) !== before) this.#listeners.tell(subnet);
  }

  onChange(listener: (subnet: string) => void): Disposable {
    return this.#listeners.add(listener);
  }
}
