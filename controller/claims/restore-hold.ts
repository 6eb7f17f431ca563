import type { Hold } from './move-hold.ts';

/** Agents make the records of their pods again within a minute of a restore (rule 9). */
const HOLD_MS = 90_000;

/** After etcd was restored from a backup, a number that looks free may be in use: claims get nothing new for a while. */
export class RestoreHold {
  readonly #nowMs: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  begin(): void {
    this.#untilMs = this.#nowMs() + HOLD_MS;
  }

  find(): Hold | null {
    const leftMs = this.#untilMs - this.#nowMs();
    const why =
      'etcd was restored from a backup; nothing new is given out for 90 s, until agents have made the lost records of their pods again';
    return leftMs > 0 ? { why, leftMs } : null;
  }
}
