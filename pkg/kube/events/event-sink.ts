import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { FailureKind } from '#pkg/kube/objects/outcome.ts';
import { type Reporter, toEventObject } from './event-object.ts';
import type { EmittedEvent, Events } from './events.ts';
import { RecentlyTold } from './recently-told.ts';

const EVENTS: Resource = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' };
const MOST_QUEUED = 256;
const TIMEOUT_MS = 5_000;

export interface EventSinkOptions extends Reporter {
  readonly now?: () => Date;
  /** Called when the kind of failure changes, with null when writing works again; not once per Event. */
  readonly onTrouble?: (because: FailureKind | null, message: string) => void;
}

/** Writes Events one after the other in the background. The same Event about the same object is written once in five minutes. */
export class EventSink implements Events, AsyncDisposable {
  readonly #client: KubeClient;
  readonly #options: EventSinkOptions;
  readonly #now: () => Date;
  readonly #queue: EmittedEvent[] = [];
  readonly #recent = new RecentlyTold();
  readonly #end = new AbortController();
  #writing: Promise<void> | null = null;
  #trouble: FailureKind | null = null;
  #lost = 0;

  constructor(client: KubeClient, options: EventSinkOptions) {
    this.#client = client;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
  }

  /** Events that were lost: the queue was full, or the API server refused them. */
  get lost(): number {
    return this.#lost;
  }

  emit(event: EmittedEvent): void {
    if (this.#end.signal.aborted || !this.#recent.isNews(event, this.#now().getTime())) return;
    this.#queue.push(event);
    if (this.#queue.length > MOST_QUEUED) this.#lose(this.#queue.shift());
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  /** Drops the queue: a stop of the process does not wait for Events. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.length = 0;
    this.#end.abort();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // After the answer of the call that caused the Event.
    await new Promise((resolve) => setImmediate(resolve));
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      const object = toEventObject(event, this.#options, this.#now());
      const limits = { timeoutMs: TIMEOUT_MS, signal: this.#end.signal };
      const outcome = await this.#client.create(EVENTS, object, limits);
      if (this.#end.signal.aborted) return;
      if (!outcome.ok) this.#lose(event);
      this.#report(outcome.ok ? null : outcome.because, outcome.ok ? '' : outcome.message);
    }
  }

  /** The Event may then be written again at the next occasion. */
  #lose(event: EmittedEvent | undefined): void {
    this.#lost += 1;
    if (event !== undefined) this.#recent.forget(event);
  }

  #report(because: FailureKind | null, message: string): void {
    if (because === this.#trouble) return;
    this.#trouble = because;
    this.#options.onTrouble?.(because, message);
  }
}
