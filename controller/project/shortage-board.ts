import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { Shortage } from '#pkg/autopool/shortage.ts';

/** Which applications lack addresses, by subnet. It is written into the status of the subnet by its projection. */
export class ShortageBoard {
  readonly #bySubnet = new Map<string, readonly Shortage[]>();
  readonly #listeners = new Listeners<string>();

  of(subnet: string): readonly Shortage[] {
    return this.#bySubnet.get(subnet) ?? [];
  }

  put(subnet: string, shortages: readonly Shortage[]): void {
    const before = JSON.stringify(this.of(subnet));
    if (shortages.length === 0) this.#bySubnet.delete(subnet);
    else this.#bySubnet.set(subnet, shortages);
    if (JSON.stringify(this.of(subnet)) !== before) this.#listeners.tell(subnet);
  }

  onChange(listener: (subnet: string) => void): Disposable {
    return this.#listeners.add(listener);
  }
}
