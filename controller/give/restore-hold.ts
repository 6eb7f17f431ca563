/** Why nothing new is given out for a while. */
export interface Hold {
  readonly why: string;
  readonly leftMs: number;
}

/** Agents make the records of their pods again within a minute of a restore (rule 9). */
const HOLD_MS = 90_000;
const RESTORED =
  'etcd was restored from a backup; nothing new is given out for 90 s, until agents have made the lost records of their pods again';
const MAY_BE_RESTORED =
  'the controller began to lead, or lost the API server, a moment ago; nothing new is given out for a minute, because etcd may have been restored from a backup';

/**
 * After etcd was restored from a backup, a number that looks free may be in use: no new address is given out for a while. The term ends with
 * the restore, and the next one has nothing to compare with. So its beginning, and every break, holds things back too.
 */
export class RestoreHold {
  readonly #nowMs: () => number;
  readonly #recordsMissingForMs: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** `recordsMissingForMs`: for how long records may still be missing after the last break. */
  constructor(nowMs: () => number, recordsMissingForMs: () => number) {
    this.#nowMs = nowMs;
    this.#recordsMissingForMs = recordsMissingForMs;
  }

  begin(): void {
    this.#untilMs = this.#nowMs() + HOLD_MS;
  }

  find(): Hold | null {
    const leftMs = this.#untilMs - this.#nowMs();
    if (leftMs > 0) return { why: RESTORED, leftMs };
    const missingMs = this.#recordsMissingForMs();
    return missingMs > 0 ? { why: MAY_BE_RESTORED, leftMs: missingMs } : null;
  }
}
