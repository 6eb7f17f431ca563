/** A set of listeners. Disposing what `add` returns removes the listener. */
export class Listeners<T> {
  readonly #listeners = new Set<(told: T) => void>();

  add(listener: (told: T) => void): Disposable {
    const own = (told: T) => listener(told); // the same function may listen twice
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  tell(told: T): void {
    for (const listener of this.#listeners) listener(told);
  }
}
