import { Listeners } from '#controller/cluster-view/listeners.ts';

/** Which NetworkNamespaces share addresses with another pool, and the sentence that says so. */
export class OverlapNotes {
  readonly #notes = new Map<string, string>();
  readonly #changes = new Listeners<string>();

  /** `key`: of the NetworkNamespace. Empty: it shares none. */
  find(key: string): string {
    return this.#notes.get(key) ?? '';
  }

  /** Whether that is news. */
  set(key: string, note: string): boolean {
    if (this.find(key) === note) return false;
    if (note === '') this.#notes.delete(key);
    else this.#notes.set(key, note);
    this.#changes.tell(key);
    return true;
  }

  keys(): readonly string[] {
    return [...this.#notes.keys()];
  }

  onChange(listener: (key: string) => void): Disposable {
    return this.#changes.add(listener);
  }
}
