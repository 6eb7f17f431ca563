import type { JournalEntry } from './journal-entry.ts';

const FIRST_MS = 2_000;
const MOST_MS = 60_000;
/** A ledger that comes back is not to be waited for. */
const MOST_UNANSWERED_MS = 8_000;

interface Pause {
  readonly lengthMs: number;
  readonly endsAtMs: number;
}

/** What was in vain will probably be so again: it is tried after a pause that doubles each time. */
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

  /** It was refused, or there was nothing to find yet. */
  inVain(entry: JournalEntry): void {
    this.#grow(entry, MOST_MS);
  }

  /** The ledger may be away for all, or fail at this one for good. After the first time it only goes behind the others. */
  unanswered(entry: JournalEntry): void {
    if (this.#pauses.has(entry)) this.#grow(entry, MOST_UNANSWERED_MS);
    else this.#pause(entry, 0);
  }

  #grow(entry: JournalEntry, mostMs: number): void {
    const beforeMs = this.#pauses.get(entry)?.lengthMs ?? 0;
    this.#pause(entry, Math.max(FIRST_MS, Math.min(mostMs, 2 * beforeMs)));
  }

  #pause(entry: JournalEntry, lengthMs: number): void {
    this.#pauses.set(entry, { lengthMs, endsAtMs: this.#nowMs() + lengthMs });
  }
}
