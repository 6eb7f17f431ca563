/** An address that was asked about a moment ago answers the same now. */
const REST_MS = 5_000;

/** Which Suspect addresses of a pool are worth a probe: whoever asks gets those that nobody of this node has asked about lately. */
export class SuspectTurns {
  readonly #restsUntilMs = new Map<bigint, number>();

  /** The next one, which rests from now on; null when all of them rest. */
  next(suspects: readonly bigint[], nowMs: number): bigint | null {
    for (const [value, untilMs] of this.#restsUntilMs) if (untilMs <= nowMs) this.#restsUntilMs.delete(value);
    const value = suspects.find((it) => !this.#restsUntilMs.has(it));
    if (value === undefined) return null;
    this.#restsUntilMs.set(value, nowMs + REST_MS);
    return value;
  }

  /** The network could not be asked about it after all. */
  giveBack(value: bigint): void {
    this.#restsUntilMs.delete(value);
  }
}
