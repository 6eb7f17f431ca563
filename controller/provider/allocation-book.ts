import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';

/** Which IPAllocations there are for a NetworkConfiguration, by what their spec says. */
export class AllocationBook implements Disposable {
  readonly #view: ObjectView;
  readonly #configurationOf = new Map<string, string>();
  readonly #byConfiguration = new Map<string, Map<string, ObjectName>>();
  readonly #subscription: Disposable;

  /** The view has synced. `onChange` gets the NetworkConfigurations whose IPAllocations have changed. */
  constructor(view: ObjectView, onChange: (configuration: string) => void) {
    this.#view = view;
    for (const { metadata } of view.all()) this.#update(metadata);
    this.#subscription = view.onChange((at) => {
      const before = this.#configurationOf.get(keyOf(at));
      const after = this.#update(at);
      for (const key of new Set([before, after])) if (key !== undefined) onChange(key);
    });
  }

  of(configuration: string): readonly IpAllocation[] {
    const places = [...(this.#byConfiguration.get(configuration)?.values() ?? [])];
    return places.flatMap((at) => {
      const object = this.#view.get(at);
      return (object === null ? null : readIpAllocation(object)) ?? [];
    });
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #update({ namespace = '', name }: ObjectName): string | undefined {
    const key = keyOf({ namespace, name });
    const before = this.#configurationOf.get(key);
    const object = this.#view.get({ namespace, name });
    const found = object === null ? null : readIpAllocation(object);
    const after = found === null ? undefined : keyOf({ namespace, name: found.networkConfiguration });
    if (before !== undefined && before !== after) this.#remove(before, key);
    if (after === undefined) return undefined;
    this.#configurationOf.set(key, after);
    const places = this.#byConfiguration.get(after) ?? new Map<string, ObjectName>();
    this.#byConfiguration.set(after, places.set(key, { namespace, name }));
    return after;
  }

  #remove(configuration: string, key: string): void {
    this.#configurationOf.delete(key);
    const places = this.#byConfiguration.get(configuration);
    places?.delete(key);
    if (places?.size === 0) this.#byConfiguration.delete(configuration);
  }
}
