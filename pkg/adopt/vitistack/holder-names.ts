import { allocationName, otherAllocationName } from '#pkg/vitistack/provider-names.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { addressOf, type ServedInterface } from '#pkg/vitistack/serving-allocations.ts';

interface HolderName {
  readonly name: string;
  readonly uid: string | null;
}

/** Which IPAllocation will have the address that an interface shows, by the rules of the controller that makes them. */
export class HolderNames {
  /** By `namespace/name`, for which configuration and interface. */
  readonly #taken: Map<string, string>;

  constructor(allocations: readonly IpAllocation[]) {
    this.#taken = new Map(
      allocations.map((it) => [`${it.namespace}/${it.name}`, `${it.networkConfiguration}/${it.interface}`]),
    );
  }

  /** Null: the interface has an IPAllocation with another address, and no other one will be made for it. */
  find({ namespace, name }: NetworkConfiguration, { wanted, allocations }: ServedInterface): HolderName | null {
    const [first] = allocations;
    if (first !== undefined) return allocations.some((it) => addressOf(it) !== null) ? null : first;
    const own = `${name}/${wanted.name}`;
    const names = [allocationName(name, wanted.name), otherAllocationName(name, wanted.name)];
    const free = names.find((it) => (this.#taken.get(`${namespace}/${it}`) ?? own) === own) ?? null;
    if (free === null) return null;
    this.#taken.set(`${namespace}/${free}`, own);
    return { name: free, uid: null };
  }
}
