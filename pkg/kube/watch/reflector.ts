import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Form, Trim } from '#pkg/kube/client/request-options.ts';
import { isRestoredSince, type KubeObject, type ListQuery, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { type Failure, isBreak } from '#pkg/kube/objects/outcome.ts';
import { report } from '#pkg/kube/transport/report.ts';
import { Backoff, type BackoffRange, pauseAfter, sleep } from '#pkg/kube/transport/timing.ts';
import { inSlices } from './in-slices.ts';
import { KnownObjects, type WatchEvent } from './known-objects.ts';
import { readWatch, type WatchLimits } from './watch-stream.ts';

export type Trouble =
  | { readonly during: 'list' | 'watch'; readonly failure: Failure; readonly retryInMs: number }
  | { readonly during: 'event'; readonly event: WatchEvent; readonly thrown: unknown };

export interface ReflectorOptions {
  readonly resource: Resource;
  readonly query?: ListQuery;
  readonly form?: Form;
  /** Cuts the objects of a list down to what the handler needs. Objects of the watch are passed on whole. */
  readonly trim?: Trim;
  /** Called for one event after the other. An error goes to `onTrouble`, and the next event follows. */
  readonly onEvent: (event: WatchEvent) => void;
  /** Called for everything that keeps the handler from being current, before the pause that follows. */
  readonly onTrouble: (trouble: Trouble) => void;
  /**
   * The store was restored from a backup: objects have older versions than before, and deleted ones may exist again. It is
   * called before the events of a new list.
   */
  readonly onRestored?: () => void;
  /** The server answers again after a break, on whatever store it has now. */
  readonly onReconnected?: () => void;
  readonly backoff?: BackoffRange;
  /** The server ends a watch after one to two times this. */
  readonly watchSeconds?: number;
  readonly maxLineBytes?: number;
}

const BACKOFF = { firstMs: 250, mostMs: 10_000 };
const WATCH_SECONDS = 240;
const GRACE_MS = 30_000;
/** A list takes as long as it is large; that it goes on is bounded by page. */
const LIST_TIMEOUT_MS = 600_000;
const PAGE_TIMEOUT_MS = 30_000;
/** An answer that is too large is so at the next try too. */
const TOO_LARGE_PAUSE_MS = 60_000;
const MAX_LINE_BYTES = 8 << 20;
const GRANT_TIMEOUT_MS = 30_000;
const SOUND_AFTER_MS = 1_000;
/** A watch that ends this long before its time was not ended by its time. */
const EARLY_MS = 2_000;
const MOST_BAD_WATCHES = 3;

/**
 * Keeps a handler current: one consistent list, then watches that each continue where the last one ended. A list is passed on page by
 * page, and what is gone at its end, so that no list is ever kept whole. No object is reported as deleted because the API server
 * is away, refuses, or does not serve the kind.
 */
export class Reflector implements AsyncDisposable {
  /** Resolves after the first complete list; rejects only if the reflector ended before. */
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  readonly #known = new KnownObjects();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #resourceVersion: string | null = null;
  /** The version of the last list or event, also while a new list is due. */
  #lastVersion = '0';
  #badWatches = 0;
  /** Whether the restore was reported for the list that is due, which may need several tries. */
  #hasToldRestore = false;
  /** After a break the server may be another one, on a store that was restored. */
  #mustCompare = false;

  constructor(client: KubeClient, options: ReflectorOptions) {
    this.#client = client;
    this.#options = options;
    this.#backoff = new Backoff(options.backoff ?? BACKOFF, client.timing.random);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.synced = promise;
    promise.catch(() => {}); // callers need not wait for it
    this.#running = this.#run(resolve).finally(() => reject(new Error('the reflector was stopped')));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(onSynced: () => void): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#resourceVersion === null) await this.#list(onSynced);
      else if (this.#mustCompare) await this.#compare(this.#resourceVersion);
      else await this.#watch(this.#resourceVersion);
    }
  }

  async #list(onSynced: () => void): Promise<void> {
    const { resource, query = {}, form = 'full', trim } = this.#options;
    const { signal } = this.#stop;
    const times = { timeoutMs: LIST_TIMEOUT_MS, pageTimeoutMs: PAGE_TIMEOUT_MS };
    const options = { form, signal, ...times, ...(trim === undefined ? {} : { trim }) };
    const listed = await this.#client.listPages(resource, query, options, {
      begin: () => this.#known.begin(),
      take: ({ items, resourceVersion }) => {
        this.#noteList(items, resourceVersion);
        return inSlices(items, (item) => this.#tellItem(item), signal);
      },
    });
    if (!listed.ok) {
      this.#noteBreak(listed);
      return this.#pause('list', listed);
    }
    await inSlices(this.#known.end(), (event) => this.#passOn(event), signal);
    if (signal.aborted) return;
    this.#hasToldRestore = false;
    this.#moveTo(listed.object);
    this.#noteAnswer();
    onSynced();
  }

  /** Before each page is passed on: the first one shows the revision, and any of them an object in an older version. */
  #noteList(items: readonly KubeObject[], resourceVersion: string): void {
    const isRestored = isRestoredSince(resourceVersion, this.#lastVersion) || this.#known.isNewerThan(items);
    if (isRestored && !this.#hasToldRestore) report(() => this.#options.onRestored?.());
    this.#hasToldRestore ||= isRestored;
    this.#lastVersion = resourceVersion;
  }

  /** The API server grants a watch from a revision that its restored store does not have yet, and then sends nothing. */
  async #compare(resourceVersion: string): Promise<void> {
    const { resource, query = {} } = this.#options;
    const now = await this.#client.revision(resource, query, { signal: this.#stop.signal });
    if (!now.ok) return this.#pause('watch', now);
    if (isRestoredSince(now.object, resourceVersion)) this.#resourceVersion = null;
    else this.#noteAnswer();
  }

  #noteBreak(failure: Failure): void {
    this.#mustCompare ||= isBreak(failure);
  }

  #noteAnswer(): void {
    const wasBroken = this.#mustCompare;
    this.#mustCompare = false;
    if (wasBroken) report(() => this.#options.onReconnected?.());
  }

  #moveTo(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion;
    this.#lastVersion = resourceVersion;
  }

  async #watch(resourceVersion: string): Promise<void> {
    const { timing } = this.#client;
    const { resource, query = {}, form = 'full', watchSeconds = WATCH_SECONDS } = this.#options;
    const { signal } = this.#stop;
    const timeoutSeconds = Math.ceil(watchSeconds * (1 + timing.random()));
    const options = { form, signal, timeoutMs: GRANT_TIMEOUT_MS };
    const opened = await this.#client.openWatch(resource, query, { resourceVersion, timeoutSeconds }, options);
    if (!('stream' in opened)) return this.#afterFailure(opened);

    const startedAtMs = timing.nowMs();
    const limits = this.#limits(timeoutSeconds);
    const ended = await readWatch(
      opened.stream,
      limits,
      (item) => {
        this.#moveTo(item.type === 'BOOKMARK' ? item.resourceVersion : item.object.metadata.resourceVersion);
        if (item.type !== 'BOOKMARK') for (const event of this.#known.apply(item)) this.#passOn(event);
      },
      signal,
    );
    const hasMoved = this.#resourceVersion !== resourceVersion;
    const wasSound = timing.nowMs() - startedAtMs > SOUND_AFTER_MS;
    // A lost connection is followed by a pause anyway. A server that ends each watch after one bookmark must not cause a busy loop.
    if (wasSound || (hasMoved && ended !== null)) this.#backoff.reset();
    if (wasSound || hasMoved) this.#badWatches = 0;
    // A server that stops ends its watches in order. The next one may be on another store.
    this.#mustCompare ||= ended === null && timing.nowMs() - startedAtMs < timeoutSeconds * 1_000 - EARLY_MS;
    if (ended !== null) await this.#afterFailure(ended);
    else if (!wasSound)
      await this.#pause('watch', { ok: false, because: 'Unknown', message: 'the watch ended at once' });
  }

  #limits(timeoutSeconds: number): WatchLimits {
    return {
      maxLineBytes: this.#options.maxLineBytes ?? MAX_LINE_BYTES,
      mostMs: timeoutSeconds * 1_000 + GRACE_MS,
    };
  }

  async #afterFailure(ended: Failure): Promise<void> {
    const { because } = ended;
    this.#noteBreak(ended);
    if (because === 'BadAnswer' || because === 'ServerError' || because === 'Invalid') this.#badWatches += 1;
    if (because === 'Expired' || this.#badWatches >= MOST_BAD_WATCHES) {
      this.#resourceVersion = null;
      this.#badWatches = 0;
    }
    await this.#pause('watch', ended);
  }

  async #pause(during: 'list' | 'watch', failure: Failure): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { timing } = this.#client;
    const leastMs = failure.because === 'TooLarge' ? TOO_LARGE_PAUSE_MS : 0;
    const retryInMs = Math.max(leastMs, pauseAfter(failure, this.#backoff.nextMs(), timing.random));
    report(() => this.#options.onTrouble({ during, failure, retryInMs }));
    await sleep(timing, retryInMs, this.#stop.signal);
  }

  #tellItem(item: KubeObject): void {
    for (const event of this.#known.put(item)) this.#passOn(event);
  }

  #passOn(event: WatchEvent): void {
    try {
      this.#options.onEvent(event);
    } catch (thrown) {
      report(() => this.#options.onTrouble({ during: 'event', event, thrown }));
    }
  }
}
