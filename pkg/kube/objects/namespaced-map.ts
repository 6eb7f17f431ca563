/**
 * Values by namespace and name; the namespace of a cluster scoped object is ''. The names are kept as they are: a key of both
 * would be one more text for every object of a cluster.
 */
export class NamespacedMap<V> {
  readonly #namespaces = new Map<string, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): V | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set(namespace: string, name: string, value: V): void {
    let names = this.#namespaces.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.#namespaces.set(namespace, names);
    }
    if (!names.has(name)) this.#size += 1;
    names.set(name, value);
  }

  delete(namespace: string, name: string): boolean {
    const names = this.#namespaces.get(namespace);
    if (names?.delete(name) !== true) return false;
    this.#size -= 1;
    if (names.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  *values(): Generator<V> {
    for (const names of this.#namespaces.values()) yield* names.values();
  }

  /** What is deleted meanwhile is left out. */
  *entries(): Generator<readonly [namespace: string, name: string, value: V]> {
    for (const [namespace, names] of this.#namespaces) {
      for (const [name, value] of names) yield [namespace, name, value];
    }
  }
}
