import type { JournalEntry } from './journal-entry.ts';

const FIRST_MS = 2_000;
const MOST_MS = 60_000;
/** Kept short, so that entries are settled soon after the API server is back. */
const MOST_UNANSWERED_MS = 8_000;

interface Pause {
  readonly lengthMs: number;
  readonly endsAtMs: number;
}

/** The backoff of each journal entry: after every failed try the pause doubles. */
export class EntryBackoff {
  readonly #nowMs: () => number;
  readonly #backoff = new WeakMap<JournalEntry, Pause>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The entries that may be tried now, the longest due first, so that a round that ends early starves none of them. */
  due(entries: readonly JournalEntry[]): JournalEntry[] {
    const dueAtMs = (entry: JournalEntry) => this.#backoff.get(entry)?.endsAtMs ?? 0;
    const nowMs = this.#nowMs();
    return entries.filter((it) => dueAtMs(it) <= nowMs).toSorted((a, b) => dueAtMs(a) - dueAtMs(b));
  }

  /** The API server refused it, or the record does not exist yet. */
  failed(entry: JournalEntry): void {
    this.#grow(entry, MOST_MS);
  }

  /** The API server did not answer. The first time the entry only moves behind the others; after that it gets a pause. */
  unanswered(entry: JournalEntry): void {
    if (this.#backoff.has(entry)) this.#grow(entry, MOST_UNANSWERED_MS);
    else this.#pause(entry, 0);
  }

  #grow(entry: JournalEntry, mostMs: number): void {
    const beforeMs = this.#backoff.get(entry)?.lengthMs ?? 0;
    this.#pause(entry, Math.max(FIRST_MS, Math.min(mostMs, 2 * beforeMs)));
  }

  #pause(entry: JournalEntry, lengthMs: number): void {
    this.#backoff.set(entry, { lengthMs, endsAtMs: this.#nowMs() + lengthMs });
  }
}
