import type { EmittedEvent } from './events.ts';

const SILENT_FOR_MS = 5 * 60_000;
const MOST_REMEMBERED = 1_024;

/** Which events were told a short while ago. Beyond its size it forgets the oldest, which then may be told again. */
export class RecentlyTold {
  /** By insertion, so the oldest come first. */
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

function keyOf({ regarding, reason, note }: EmittedEvent): string {
  const { kind, namespace, name, uid } = regarding;
  return JSON.stringify([kind, namespace, name, uid, reason, note]);
}
