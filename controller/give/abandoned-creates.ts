interface Abandoned {
  readonly name: string;
  readonly untilMs: number;
}

/** The API server ends a request after this time; until then a create without an answer may still make the record. */
const LANDS_FOR_MS = 60_000;

/** The records that were being created for an object when the answer did not come (rule 5). */
export class AbandonedCreates {
  readonly #nowMs: () => number;
  readonly #ofHolder = new Map<string, readonly Abandoned[]>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  add(uid: string, name: string): void {
    for (const holder of this.#ofHolder.keys()) this.#dropOld(holder);
    this.#ofHolder.set(uid, [...this.of(uid), { name, untilMs: this.#nowMs() + LANDS_FOR_MS }]);
  }

  /** Those that may still be made. */
  of(uid: string): readonly Abandoned[] {
    this.#dropOld(uid);
    return this.#ofHolder.get(uid) ?? [];
  }

  #dropOld(uid: string): void {
    const left = (this.#ofHolder.get(uid) ?? []).filter(({ untilMs }) => untilMs > this.#nowMs());
    if (left.length === 0) this.#ofHolder.delete(uid);
    else this.#ofHolder.set(uid, left);
  }
}
