import { report } from '#pkg/kube/transport/report.ts';
import { Backoff, type BackoffRange, SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';
import { DueKeys } from './due-keys.ts';

export interface WorkQueueOptions {
  /** Brings one key to its desired state. After an error the key is retried with backoff. A returned number requeues it after so many ms. */
  readonly reconcile: (key: string) => Promise<number | undefined>;
  readonly onTrouble: (key: string, thrown: unknown, retryInMs: number) => void;
  readonly workers?: number;
  readonly backoff?: BackoffRange;
  readonly timing?: Timing;
}

const WORKERS = 4;
/** Work that needs no answer of the API server would otherwise go on, key after key, while everything else waits. */
const SLICE_MS = 8;
const BACKOFF = { firstMs: 100, mostMs: 300_000 };

/** A queue of keys. One worker at a time works on a key, and again if the key was added meanwhile. */
export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions;
  readonly #timing: Timing;
  readonly #ready = new Set<string>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #later: DueKeys;
  readonly #backoffs = new Map<string, Backoff>();
  #isStopped = false;
  /** When this turn of the event loop began for the queue; null: no key was started in it. */
  #turnMs: number | null = null;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#timing = options.timing ?? SYSTEM_TIMING;
    this.#later = new DueKeys(this.#timing, (keys) => this.#addAll(keys));
  }

  /** Keys that wait or are worked on. */
  get size(): number {
    return new Set([...this.#ready, ...this.#busy.keys(), ...this.#later.keys()]).size;
  }

  add(key: string): void {
    if (this.#isStopped) return;
    this.#ready.add(key);
    queueMicrotask(() => this.#startWork());
  }

  /** The earliest time wins. */
  addAfter(key: string, ms: number): void {
    if (this.#isStopped) return;
    this.#later.add(key, ms);
  }

  /** Waits for the keys that are being worked on, and drops the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#ready.clear();
    this.#later.clear();
    await Promise.all(this.#busy.values());
  }

  #addAll(keys: Iterable<string>): void {
    if (this.#isStopped) return;
    for (const key of keys) this.#ready.add(key);
    this.#startWork();
  }

  #startWork(): void {
    for (const key of this.#ready) {
      if (this.#busy.size >= (this.#options.workers ?? WORKERS) || this.#isTurnOver()) return;
      if (this.#busy.has(key)) continue;
      this.#ready.delete(key);
      this.#busy.set(key, this.#workAlone(key));
    }
  }

  /** After a slice the event loop goes on first, and then this queue. */
  #isTurnOver(): boolean {
    if (this.#turnMs !== null) return performance.now() - this.#turnMs > SLICE_MS;
    this.#turnMs = performance.now();
    setImmediate(() => {
      this.#turnMs = null;
      this.#startWork();
    });
    return false;
  }

  async #workAlone(key: string): Promise<void> {
    await this.#work(key);
    this.#busy.delete(key);
    this.#startWork();
  }

  async #work(key: string): Promise<void> {
    try {
      const againInMs = await this.#options.reconcile(key);
      this.#backoffs.delete(key);
      if (againInMs !== undefined) this.addAfter(key, againInMs);
    } catch (thrown) {
      const retryInMs = this.#backoffOf(key).nextMs();
      this.addAfter(key, retryInMs);
      report(() => this.#options.onTrouble(key, thrown, retryInMs));
    }
  }

  #backoffOf(key: string): Backoff {
    const backoff = this.#backoffs.get(key) ?? new Backoff(this.#options.backoff ?? BACKOFF, this.#timing.random);
    this.#backoffs.set(key, backoff);
    return backoff;
  }
}
