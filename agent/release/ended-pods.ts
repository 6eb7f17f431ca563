import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Collector } from './collector.ts';

/** The first look is at once, the next ones follow with growing pauses; after that the regular round looks. */
const PAUSES_MS: readonly number[] = [0, 200, 500, 1_000, 2_000, 5_000];

/** Looks at the sandboxes of pods that have just ended, so that an address without a DEL comes back within seconds. */
export class EndedPods implements AsyncDisposable {
  readonly #collector: Pick<Collector, 'collectOf'>;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #followed = new Map<string, Promise<void>>();

  constructor(collector: Pick<Collector, 'collectOf'>, log: Logger) {
    this.#collector = collector;
    this.#log = log;
  }

  /** A pod that is followed already is not followed twice. */
  follow(uid: string): void {
    if (this.#followed.has(uid) || this.#stop.signal.aborted) return;
    const following = this.#follow(uid)
      .catch((thrown: unknown) => {
        if (!this.#stop.signal.aborted)
          this.#log.error({ uid, why: toIpamError(thrown).message }, 'sandbox of an ended pod not examined');
      })
      .finally(() => this.#followed.delete(uid));
    this.#followed.set(uid, following);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#followed.values());
  }

  async #follow(uid: string): Promise<void> {
    for (const pauseMs of PAUSES_MS) {
      await sleep(pauseMs, undefined, { signal: this.#stop.signal });
      if (!(await this.#collector.collectOf(uid))) return;
    }
  }
}
