import type { IntervalSet } from '#pkg/ip/interval-set.ts';

/** An address that was probed a moment ago would answer the same now. */
const REST_MS = 5_000;

/** The Suspect addresses of a pool. Each call of this node gets those that no other call has probed lately. */
export class Suspects {
  readonly #restsUntilMs = new Map<bigint, number>();
  #values: readonly bigint[] = [];
  #usable: IntervalSet | null = null;

  /** What the pool can give now. The others stay known: they count again when a reservation ends. */
  limitTo(usable: IntervalSet): void {
    this.#usable = usable;
  }

  /** What a load of the pool found. */
  replace(values: readonly bigint[]): void {
    this.#values = values;
  }

  /** Those that the pool can give. */
  get all(): readonly bigint[] {
    return this.#values.filter((value) => this.#usable?.contains(value) ?? true);
  }

  /** The watch of the pool said that it became Suspect. */
  add(value: bigint): void {
    if (!this.#values.includes(value)) this.#values = [...this.#values, value];
  }

  /** A read said that it is not Suspect any more. */
  forget(value: bigint): void {
    this.#values = this.#values.filter((it) => it !== value);
  }

  /** The next one to probe, which then pauses; null when all of them pause. */
  next(nowMs: number): bigint | null {
    for (const [value, untilMs] of this.#restsUntilMs) if (untilMs <= nowMs) this.#restsUntilMs.delete(value);
    const value = this.all.find((it) => !this.#restsUntilMs.has(it));
    if (value === undefined) return null;
    this.#restsUntilMs.set(value, nowMs + REST_MS);
    return value;
  }

  /** It could not be probed after all: another call may try at once. */
  giveBack(value: bigint): void {
    this.#restsUntilMs.delete(value);
  }
}
