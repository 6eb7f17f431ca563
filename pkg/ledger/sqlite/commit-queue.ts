import type { Commits } from '#pkg/ledger/local-ledger.ts';

interface Job {
  readonly run: () => void;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

/**
 * Writes of one turn of the event loop share one transaction, because each durable commit costs an fsync.
 * `transact` either makes everything its argument did durable, or throws and leaves nothing of it.
 */
export class CommitQueue implements Commits {
  readonly #transact: (work: () => void) => void;
  #jobs: Job[] = [];

  constructor(transact: (work: () => void) => void) {
    this.#transact = transact;
  }

  submit<T>(write: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let outcome: T;
      this.#jobs.push({
        run: () => {
          outcome = write();
        },
        resolve: () => resolve(outcome),
        reject,
      });
      if (this.#jobs.length === 1) setImmediate(() => this.flush());
    });
  }

  flush(): void {
    const jobs = this.#jobs;
    this.#jobs = [];
    if (jobs.length === 0) return;
    try {
      this.#transact(() => {
        for (const job of jobs) job.run();
      });
    } catch (thrown) {
      for (const job of jobs) job.reject(thrown);
      return;
    }
    for (const job of jobs) job.resolve();
  }
}
