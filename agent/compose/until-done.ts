import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '#pkg/kube/transport/timing.ts';

const PAUSES = { firstMs: 500, mostMs: 10_000 };

export type PauseFor = (ms: number, signal: AbortSignal) => Promise<void>;

/** Runs a task until it succeeds once, with growing pauses. Disposing ends the pauses and waits for the current run. */
export class UntilDone implements AsyncDisposable {
  readonly #task: () => Promise<void>;
  readonly #onFailure: (thrown: unknown) => void;
  readonly #pause: PauseFor;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(task: () => Promise<void>, onFailure: (thrown: unknown) => void, pause: PauseFor = sleepFor) {
    this.#task = task;
    this.#onFailure = onFailure;
    this.#pause = pause;
  }

  /** While it runs: it runs once more from the beginning. */
  start(): void {
    this.#isAskedAgain = true;
    if (this.#stop.signal.aborted) return;
    this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(PAUSES, Math.random);
    while (this.#isAskedAgain && !signal.aborted) {
      this.#isAskedAgain = false;
      try {
        await this.#task();
      } catch (thrown) {
        this.#isAskedAgain = true;
        this.#onFailure(thrown);
        await this.#pause(backoff.nextMs(), signal);
      }
    }
    // No await between the last check of `isAskedAgain` and this: a later `start` begins a new run.
    this.#running = null;
  }
}

async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
