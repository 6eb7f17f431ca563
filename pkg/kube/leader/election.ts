import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { report } from '#pkg/kube/transport/report.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import { LeaseClaim } from './lease-claim.ts';

/** `claim`: the lease could not be acquired or renewed. `lead`: the work of the term ended with this error. */
export type ElectionTrouble =
  | { readonly during: 'claim'; readonly failure: Failure }
  | { readonly during: 'lead'; readonly thrown: unknown };

export interface ElectionOptions {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly now: () => Date;
  /**
   * Runs while this process is the leader. `term` is aborted when it is not any more. The lease is released, and may be acquired
   * again, after the returned promise has ended.
   */
  readonly lead: (term: AbortSignal) => Promise<void>;
  readonly onTrouble: (trouble: ElectionTrouble) => void;
  /**
   * etcd was restored from a backup. A leader's term ends, so that the next one begins without what it believed to know. A
   * candidate that looks after another one has written the lease again does not notice, and has no term that could go on.
   */
  readonly onRestored?: () => void;
  readonly pace?: ElectionPace;
}

export interface ElectionPace {
  /** How long other candidates wait after they saw the last renewal. */
  readonly leaseMs: number;
  /** How long a leader trusts its own last renewal. It is shorter, so that two never lead at once. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

const PACE: ElectionPace = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** One leader at a time, by a Lease. This saves work; correctness never depends on it. */
export class Election implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #options: ElectionOptions;
  readonly #pace: ElectionPace;
  readonly #claim: LeaseClaim;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #leadUntilMs = Number.NEGATIVE_INFINITY;
  #term: AbortController | null = null;
  #work: Promise<void> = Promise.resolve();
  #isWorking = false;

  constructor(client: KubeClient, options: ElectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#pace = options.pace ?? PACE;
    const onRestored = () => this.#restart();
    this.#claim = new LeaseClaim(client, { ...options, leaseMs: this.#pace.leaseMs, onRestored });
    this.#running = this.#run();
  }

  /** To be asked before each write: true only while no other candidate can have acquired the lease. */
  isLeader(): boolean {
    return this.#term !== null && this.#client.timing.nowMs() < this.#leadUntilMs;
  }

  /** Ends the term, waits for its work while the lease is valid, and releases the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    const { timing } = this.#client;
    const leftMs = this.#leadUntilMs - timing.nowMs();
    this.#endTerm();
    if (leftMs <= 0) return;
    const isDone = await Promise.race([this.#work.then(() => true), sleep(timing, leftMs).then(() => false)]);
    if (isDone) await this.#claim.giveBack(this.#pace.retryMs);
  }

  async #run(): Promise<void> {
    const { timing } = this.#client;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#renew();
      const untilDeadlineMs = this.#term === null ? Number.POSITIVE_INFINITY : this.#leadUntilMs - timing.nowMs();
      const pauseMs = this.#pace.retryMs * (1 + timing.random() / 5);
      await sleep(timing, Math.max(0, Math.min(pauseMs, untilDeadlineMs)), signal);
    }
  }

  async #renew(): Promise<void> {
    const { timing } = this.#client;
    if (this.#term !== null && !this.isLeader()) this.#endTerm();
    // The work of the last term has not ended yet. Another process may lead meanwhile.
    if (this.#term === null && this.#isWorking) return;
    const sentAtMs = timing.nowMs();
    const claimed = await this.#claim.claim(
      this.#term === null ? sentAtMs + this.#pace.renewDeadlineMs / 2 : this.#leadUntilMs,
    );
    if (claimed.held) this.#leadUntilMs = sentAtMs + this.#pace.renewDeadlineMs;
    else if (claimed.failure !== null) this.#report({ during: 'claim', failure: claimed.failure });
    const holds = timing.nowMs() < this.#leadUntilMs;
    if (this.#term !== null && !holds) this.#endTerm();
    // After a restore the work of the ended term may still go on.
    const mayStart = this.#term === null && !this.#isWorking && !this.#stop.signal.aborted;
    if (mayStart && claimed.held && holds) this.#startTerm();
  }

  #startTerm(): void {
    const term = new AbortController();
    this.#term = term;
    this.#work = this.#lead(term);
  }

  async #lead(term: AbortController): Promise<void> {
    this.#isWorking = true;
    try {
      await this.#options.lead(term.signal);
    } catch (thrown) {
      this.#report({ during: 'lead', thrown });
      if (this.#term === term) this.#endTerm();
    } finally {
      this.#isWorking = false;
    }
  }

  #restart(): void {
    report(() => this.#options.onRestored?.());
    this.#endTerm();
  }

  #report(trouble: ElectionTrouble): void {
    report(() => this.#options.onTrouble(trouble));
  }

  #endTerm(): void {
    this.#term?.abort();
    this.#term = null;
  }
}
