import type { EmittedEvent, Events } from '#pkg/kube/events/events.ts';

/** An Event is kept for an hour by default. */
const AGAIN_AFTER_MS = 30 * 60_000;
/** More at once would not find room where Events wait to be written, and be lost. */
const MOST_AT_ONCE = 200;
const NEXT_AFTER_MS = 10_000;

interface Told {
  readonly uid: string;
  readonly atMs: number;
}

/**
 * What the applications of each subnet were told, so that each hears it once and not with every pass: thousands may be short, more than the
 * memory of the Events holds.
 */
export class ToldApplications {
  readonly #events: Events;
  /** By subnet, then by Event. */
  readonly #told = new Map<string, ReadonlyMap<string, Told>>();

  constructor(events: Events) {
    this.#events = events;
  }

  /** `uids`: the applications that ask for the subnet. Returns when the next ones can be told; null: all have been. */
  tell(subnet: string, events: readonly EmittedEvent[], uids: ReadonlySet<string>, nowMs: number): number | null {
    const before = this.#told.get(subnet) ?? new Map<string, Told>();
    const told = new Map([...before].filter(([, { uid, atMs }]) => uids.has(uid) && nowMs - atMs < AGAIN_AFTER_MS));
    const news = events.filter((event) => !told.has(keyOf(event)));
    for (const event of news.slice(0, MOST_AT_ONCE)) {
      told.set(keyOf(event), { uid: event.regarding.uid, atMs: nowMs });
      this.#events.emit(event);
    }
    if (told.size === 0) this.#told.delete(subnet);
    else this.#told.set(subnet, told);
    return news.length > MOST_AT_ONCE ? NEXT_AFTER_MS : null;
  }
}

function keyOf({ regarding, reason, note, sameAs = note }: EmittedEvent): string {
  return JSON.stringify([regarding.uid, reason, sameAs]);
}
