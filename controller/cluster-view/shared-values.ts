/** A bound, because each Job is a new controller and a term may last for months. */
const MOST = 20_000;

/** Ten thousand pods share about a hundred namespaces, nodes and controllers. Each of these values is kept once. */
export class SharedValues {
  readonly #texts = new Map<string, string>();
  readonly #values = new Map<string, unknown>();

  text(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= MOST) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }

  /** Values must be plain: values with equal JSON become one object. */
  value<T>(value: T): T {
    const key = JSON.stringify(value);
    const known = this.#values.get(key);
    if (known !== undefined) return known as T;
    if (this.#values.size >= MOST) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
