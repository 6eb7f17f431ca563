import type { KubeClient } from '#pkg/kube/client/client.ts';
import { type Failure, failure } from '#pkg/kube/objects/outcome.ts';
import { Backoff, pauseAfter, sleep } from '#pkg/kube/transport/timing.ts';
import type { WatchItem } from '#pkg/kube/watch/watch-item.ts';
import { readWatch } from '#pkg/kube/watch/watch-stream.ts';
import type { OnPoolChange, PoolChange } from '#pkg/ledger/pool-change.ts';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import { RECORD_LABELS } from '#pkg/record/record-metadata.ts';
import { poolSelector } from './kubernetes-reader.ts';
import { IP_RECORDS } from './kubernetes-write.ts';

export interface PoolWatchOptions {
  readonly pool: string;
  /** Reports all changes after this resourceVersion; null: from some moment soon, and of `unknown` at that moment. */
  readonly from: string | null;
  readonly onChange: OnPoolChange;
  readonly onTrouble: (failure: Failure) => void;
}

const PAUSE = { firstMs: 100, mostMs: 5_000 };
const WATCH_SECONDS = 300;
const LIMITS = { maxLineBytes: 1 << 20, mostMs: (WATCH_SECONDS + 30) * 1_000 };
const GRANT_TIMEOUT_MS = 30_000;
const SOUND_AFTER_MS = 1_000;
/** A watch that ends this long before its time was not ended by its time. */
const EARLY_MS = 2_000;
/** Selects nothing: a list of it costs one read of one key, and says how far the API server is. */
const NOTHING = { fieldSelector: 'metadata.name=none' };

/**
 * Reports changes of one pool's records. Keeps no list of the pool: after a break it reports to its watchers that changes may have
 * been missed, and reads the pool when it wants to.
 */
export class PoolWatch implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #options: PoolWatchOptions;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #from: string | null;

  constructor(client: KubeClient, options: PoolWatchOptions) {
    this.#client = client;
    this.#options = options;
    this.#from = options.from;
    this.#backoff = new Backoff(PAUSE, client.timing.random);
    this.#running = this.#run();
  }

  /** Where a watch after this one has to start. */
  get from(): string | null {
    return this.#from;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const trouble = this.#from === null ? await this.#begin() : await this.#follow(this.#from);
      if (trouble === null || signal.aborted) continue;
      this.#from = null;
      this.#options.onTrouble(trouble);
      const { timing } = this.#client;
      await sleep(timing, pauseAfter(trouble, this.#backoff.nextMs(), timing.random), signal);
    }
  }

  async #begin(): Promise<Failure | null> {
    const { signal } = this.#stop;
    const listed = await this.#client.list(IP_RECORDS, NOTHING, { form: 'metadata', signal });
    if (!listed.ok) return listed;
    this.#from = listed.object.resourceVersion;
    if (!signal.aborted) this.#options.onChange({ kind: 'unknown' });
    return null;
  }

  async #follow(resourceVersion: string): Promise<Failure | null> {
    const { timing } = this.#client;
    const { signal } = this.#stop;
    const query = { labelSelector: poolSelector(this.#options.pool) };
    const start = { resourceVersion, timeoutSeconds: WATCH_SECONDS };
    const options = { form: 'metadata', signal, timeoutMs: GRANT_TIMEOUT_MS } as const;
    const opened = await this.#client.openWatch(IP_RECORDS, query, start, options);
    if (!('stream' in opened)) return opened;
    const startedAtMs = timing.nowMs();
    const ended = await readWatch(opened.stream, LIMITS, (item) => this.#take(item), signal);
    const lastedMs = timing.nowMs() - startedAtMs;
    if (lastedMs > SOUND_AFTER_MS) this.#backoff.reset();
    // A server that stops ends its watches in order. The next one may be on a restored store, which has nothing to tell from here on.
    const isEarly = lastedMs < WATCH_SECONDS * 1_000 - EARLY_MS;
    return ended ?? (isEarly ? failure('Unknown', 'the server ended the watch before its time') : null);
  }

  #take(item: WatchItem): void {
    this.#from = item.type === 'BOOKMARK' ? item.resourceVersion : item.object.metadata.resourceVersion;
    if (item.type !== 'BOOKMARK') this.#options.onChange(toChange(item));
  }
}

function toChange({ type, object }: Exclude<WatchItem, { type: 'BOOKMARK' }>): PoolChange {
  const { name, uid, labels } = object.metadata;
  if (type === 'DELETED') return { kind: 'freed', name, uid };
  const state = RECORD_STATES.find((it) => it === labels?.[RECORD_LABELS.state]) ?? 'Allocated';
  return state === 'Suspect' ? { kind: 'suspect', name } : { kind: 'taken', name, state };
}
