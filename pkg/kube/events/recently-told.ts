import type { EmittedEvent } from './events.ts';

const SILENT_FOR_MS = 5 * 60_000;
const MOST_REMEMBERED = 1_024;

/** The Events that were written a short while ago. If it is full it drops the oldest, which may then be written again. */
export class RecentlyTold {
  /** In the order of insertion: the oldest come first. */
  readonly #toldAtMs = new Map<string, number>();

  isNews(event: EmittedEvent, nowMs: number): boolean {
    this.#dropOld(nowMs);
    const key = keyOf(event);
    if (this.#toldAtMs.has(key)) return false;
    this.#toldAtMs.set(key, nowMs);
    return true;
  }

  forget(event: EmittedEvent): void {
    this.#toldAtMs.delete(keyOf(event));
  }

  #dropOld(nowMs: number): void {
    for (const [key, toldAtMs] of this.#toldAtMs) {
      const isFresh = nowMs - toldAtMs < SILENT_FOR_MS && nowMs >= toldAtMs;
      if (isFresh && this.#toldAtMs.size < MOST_REMEMBERED) return;
      this.#toldAtMs.delete(key);
    }
  }
}

function keyOf({ regarding, reason, note, sameAs = note }: EmittedEvent): string {
  const { kind, namespace, name, uid } = regarding;
  return JSON.stringify([kind, namespace, name, uid, reason, sameAs]);
}
