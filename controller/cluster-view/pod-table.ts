import { NamespacedMap } from '#pkg/kube/objects/namespaced-map.ts';
import { isVirtualMachine } from '#pkg/record/ip-record.ts';
import type { PodFacts } from './pod-facts.ts';

/** All pods, found by name, by an address in their status and by the VMI they run. */
export class PodTable {
  readonly #byName = new NamespacedMap<PodFacts>();
  readonly #byAddress = new Map<string, readonly PodFacts[]>();
  readonly #byVmi = new Map<string, readonly PodFacts[]>();

  get size(): number {
    return this.#byName.size;
  }

  get(namespace: string, name: string): PodFacts | null {
    return this.#byName.get(namespace, name) ?? null;
  }

  withAddress(address: string): readonly PodFacts[] {
    return this.#byAddress.get(address) ?? [];
  }

  /** The launcher pods of a VMI. */
  ofVmi(namespace: string, vmi: string): readonly PodFacts[] {
    return this.#byVmi.get(`${namespace}/${vmi}`) ?? [];
  }

  all(): Iterable<PodFacts> {
    return this.#byName.values();
  }

  put(pod: PodFacts): PodFacts | null {
    const before = this.remove(pod.namespace, pod.name);
    this.#byName.set(pod.namespace, pod.name, pod);
    if (!pod.isHostNetwork) for (const address of pod.podIPs) add(this.#byAddress, address, pod);
    const vmi = vmiOf(pod);
    if (vmi !== null) add(this.#byVmi, `${pod.namespace}/${vmi}`, pod);
    return before;
  }

  remove(namespace: string, name: string): PodFacts | null {
    const pod = this.get(namespace, name);
    if (pod === null) return null;
    this.#byName.delete(namespace, name);
    for (const address of pod.podIPs) drop(this.#byAddress, address, pod);
    const vmi = vmiOf(pod);
    if (vmi !== null) drop(this.#byVmi, `${namespace}/${vmi}`, pod);
    return pod;
  }
}

/** The VMI that a pod runs, or null. */
export function vmiOf({ controller }: PodFacts): string | null {
  return isVirtualMachine(controller) ? controller.name : null;
}

function add(index: Map<string, readonly PodFacts[]>, key: string, pod: PodFacts): void {
  index.set(key, [...(index.get(key) ?? []), pod]);
}

function drop(index: Map<string, readonly PodFacts[]>, key: string, pod: PodFacts): void {
  const left = (index.get(key) ?? []).filter((other) => other !== pod);
  if (left.length === 0) index.delete(key);
  else index.set(key, left);
}
