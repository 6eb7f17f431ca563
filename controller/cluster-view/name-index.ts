/** Which names belong to a key. Most keys have one name: only more than one need a set. */
export class NameIndex {
  readonly #names = new Map<string, string | Set<string>>();

  get(key: string): Iterable<string> {
    const found = this.#names.get(key) ?? [];
    return typeof found === 'string' ? [found] : found;
  }

  keys(): Iterable<string> {
    return this.#names.keys();
  }

  add(key: string, name: string): void {
    const found = this.#names.get(key);
    if (found === undefined) this.#names.set(key, name);
    else if (typeof found !== 'string') found.add(name);
    else if (found !== name) this.#names.set(key, new Set([found, name]));
  }

  remove(key: string, name: string): void {
    const found = this.#names.get(key);
    if (found === name) this.#names.delete(key);
    else if (found !== undefined && typeof found !== 'string' && found.delete(name) && found.size === 0) {
      this.#names.delete(key);
    }
  }
}
