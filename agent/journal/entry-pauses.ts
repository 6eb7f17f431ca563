import type { JournalEntry } from './journal-entry.ts';

const FIRST_MS = 2_000;
const MOST_MS = 60_000;

interface Pause {
  readonly lengthMs: number;
  readonly endsAtMs: number;
}

/** What was refused will probably be refused again: it is tried after a pause that doubles from time to time. */
export class EntryPauses {
  readonly #nowMs: () => number;
  readonly #pauses = new WeakMap<JournalEntry, Pause>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Those that may be tried now, the longest due first: a round that ends early leaves nobody behind for good. */
  due(entries: readonly JournalEntry[]): JournalEntry[] {
    const dueAtMs = (entry: JournalEntry) => this.#pauses.get(entry)?.endsAtMs ?? 0;
    const nowMs = this.#nowMs();
    return entries.filter((it) => dueAtMs(it) <= nowMs).toSorted((a, b) => dueAtMs(a) - dueAtMs(b));
  }

  refused(entry: JournalEntry): void {
    const before = this.#pauses.get(entry);
    const lengthMs = before === undefined ? FIRST_MS : Math.min(MOST_MS, 2 * before.lengthMs);
    this.#pauses.set(entry, { lengthMs, endsAtMs: this.#nowMs() + lengthMs });
  }
}
