import { report } from '#pkg/kube/transport/report.ts';
import { Backoff, type BackoffRange, SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';

export interface WorkQueueOptions {
  /** Brings one key to its desired state. After an error the key is retried with backoff. A returned number requeues it after so many ms. */
  readonly reconcile: (key: string) => Promise<number | undefined>;
  readonly onTrouble: (key: string, thrown: unknown, retryInMs: number) => void;
  readonly workers?: number;
  readonly backoff?: BackoffRange;
  readonly timing?: Timing;
}

interface Later {
  readonly dueMs: number;
  readonly cancel: () => void;
}

const WORKERS = 4;
const BACKOFF = { firstMs: 100, mostMs: 300_000 };

/** A queue of keys. One worker at a time works on a key, and again if the key was added meanwhile. */
export class WorkQueue implements AsyncDisposable {
  readonly #options: WorkQueueOptions;
  readonly #timing: Timing;
  readonly #ready = new Set<string>();
  readonly #busy = new Map<string, Promise<void>>();
  readonly #later = new Map<string, Later>();
  readonly #backoffs = new Map<string, Backoff>();
  #isStopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#timing = options.timing ?? SYSTEM_TIMING;
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
    const dueMs = this.#timing.nowMs() + ms;
    const planned = this.#later.get(key);
    if (planned !== undefined && planned.dueMs <= dueMs) return;
    planned?.cancel();
    const cancel = this.#timing.setTimer(ms, () => {
      this.#later.delete(key);
      this.add(key);
    });
    this.#later.set(key, { dueMs, cancel });
  }

  /** Waits for the keys that are being worked on, and drops the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#ready.clear();
    for (const { cancel } of this.#later.values()) cancel();
    this.#later.clear();
    await Promise.all(this.#busy.values());
  }

  #startWork(): void {
    for (const key of this.#ready) {
      if (this.#busy.size >= (this.#options.workers ?? WORKERS)) return;
      if (this.#busy.has(key)) continue;
      this.#ready.delete(key);
      this.#busy.set(key, this.#workAlone(key));
    }
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
