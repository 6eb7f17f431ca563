import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { Backoff, pauseAfter, sleep } from '#pkg/kube/transport/timing.ts';

interface FetchHandler {
  readonly onObject: (object: KubeObject) => void;
  readonly onMissing: (name: string) => void;
  /** The pool stays wanted. */
  readonly onFailure: (name: string, failure: Failure) => void;
}

/** From here on one list is cheaper than a read of each. */
const MOST_READS = 8;
const PAUSE = { firstMs: 250, mostMs: 10_000 };

/**
 * Reads wanted pools until each has been answered for. What is wanted again while it is being read is read again; what
 * failed is tried again after a pause, and keeps nothing else waiting.
 */
export class PoolFetcher implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #log: Logger;
  readonly #handler: FetchHandler;
  readonly #wanted = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #isPausing = false;

  constructor(client: KubeClient, log: Logger, handler: FetchHandler) {
    this.#client = client;
    this.#log = log;
    this.#handler = handler;
    this.#backoff = new Backoff(PAUSE, client.timing.random);
  }

  want(name: string): void {
    this.#wanted.add(name);
    this.#running ??= this.#run();
  }

  unwant(name: string): void {
    this.#wanted.delete(name);
    this.#failed.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve(); // all events of one batch come first
    while (this.#wanted.size > 0 && !this.#stop.signal.aborted) {
      const names = [...this.#wanted];
      this.#wanted.clear();
      const failures = names.length > MOST_READS ? await this.#readAll(names) : await this.#readEach(names);
      const [failure] = failures;
      if (failure === undefined) this.#backoff.reset();
      else void this.#tryFailedAgain(failure);
    }
    this.#running = null;
  }

  async #tryFailedAgain(failure: Failure): Promise<void> {
    if (this.#isPausing || this.#stop.signal.aborted) return;
    this.#isPausing = true;
    const { timing } = this.#client;
    const retryInMs = pauseAfter(failure, this.#backoff.nextMs(), timing.random);
    this.#log.warn({ pools: this.#failed.size, why: failure.message, retryInMs }, 'pools not read');
    await sleep(timing, retryInMs, this.#stop.signal);
    this.#isPausing = false;
    const names = [...this.#failed];
    this.#failed.clear();
    for (const name of names) this.want(name);
  }

  async #readEach(names: readonly string[]): Promise<readonly Failure[]> {
    const failures = await Promise.all(names.map((name) => this.#readOne(name)));
    return failures.filter((failure) => failure !== null);
  }

  async #readOne(name: string): Promise<Failure | null> {
    const got = await this.#client.get(POOLS, { name }, { signal: this.#stop.signal });
    if (this.#stop.signal.aborted) return null;
    if (!got.ok && got.because !== 'NotFound') return this.#fail([name], got);
    if (got.ok) this.#handler.onObject(got.object);
    else this.#handler.onMissing(name);
    return null;
  }

  async #readAll(names: readonly string[]): Promise<readonly Failure[]> {
    const listed = await this.#client.list(POOLS, {}, { signal: this.#stop.signal });
    if (this.#stop.signal.aborted) return [];
    if (!listed.ok) return [this.#fail(names, listed)];
    const byName = new Map(listed.object.items.map((object) => [object.metadata.name, object]));
    for (const name of names) {
      const object = byName.get(name);
      if (object === undefined) this.#handler.onMissing(name);
      else this.#handler.onObject(object);
    }
    return [];
  }

  #fail(names: readonly string[], failure: Failure): Failure {
    for (const name of names) {
      this.#failed.add(name);
      this.#handler.onFailure(name, failure);
    }
    return failure;
  }
}
