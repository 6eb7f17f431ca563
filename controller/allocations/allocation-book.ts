import { NameIndex } from '#controller/cluster-view/name-index.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';

interface Named {
  readonly network: string;
  readonly configuration: string;
}

/** Which IPAllocations there are of a NetworkNamespace and of a NetworkConfiguration: by their spec, because labels may be missing. */
export class AllocationsByName {
  readonly #view: ObjectView;
  readonly #known = new Map<string, Named>();
  readonly #byNetwork = new NameIndex();
  readonly #byConfiguration = new NameIndex();

  constructor(view: ObjectView) {
    this.#view = view;
  }

  /** Call it for every IPAllocation at first, and after each change of one. */
  update(at: ObjectName): void {
    const key = keyOf(at);
    const before = this.#known.get(key);
    if (before !== undefined) {
      this.#byNetwork.remove(before.network, key);
      this.#byConfiguration.remove(before.configuration, key);
    }
    const object = this.#view.get(at);
    const found = object === null ? null : readIpAllocation(object);
    if (found === null) return void this.#known.delete(key);
    const { namespace, networkNamespace, networkConfiguration } = found;
    const named = {
      network: keyOf({ namespace, name: networkNamespace }),
      configuration: keyOf({ namespace, name: networkConfiguration }),
    };
    this.#known.set(key, named);
    this.#byNetwork.add(named.network, key);
    this.#byConfiguration.add(named.configuration, key);
  }

  ofNetwork(network: string): Iterable<string> {
    return this.#byNetwork.get(network);
  }

  ofConfiguration(configuration: string): Iterable<string> {
    return this.#byConfiguration.get(configuration);
  }
}
