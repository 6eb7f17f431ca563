import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { report } from '#pkg/kube/transport/report.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import { LeaseClaim } from './lease-claim.ts';

/** `claim`: the lease could not be had or kept. `lead`: the work ended with this, and its term with it. */
export type ElectionTrouble =
  | { readonly during: 'claim'; readonly failure: Failure }
  | { readonly during: 'lead'; readonly thrown: unknown };

export interface ElectionOptions {
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly now: () => Date;
  /**
   * Runs while we lead. `term` fires when we no longer do; the lease is given back, and may be claimed again, once the
   * returned promise ends.
   */
  readonly lead: (term: AbortSignal) => Promise<void>;
  readonly onTrouble: (trouble: ElectionTrouble) => void;
  readonly pace?: ElectionPace;
}

export interface ElectionPace {
  /** How long others wait after they saw the last renewal. */
  readonly leaseMs: number;
  /** How long a leader trusts its own last renewal: less, so that two never lead at once. */
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

const PACE: ElectionPace = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** One leader at a time, by a Lease. A hint for economy: correctness never depends on it. */
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
    this.#claim = new LeaseClaim(client, { ...options, leaseMs: this.#pace.leaseMs });
    this.#running = this.#run();
  }

  /** Ask before each write: it is true only while nobody else can have taken over. */
  isLeader(): boolean {
    return this.#term !== null && this.#client.timing.nowMs() < this.#leadUntilMs;
  }

  /** Ends the term, waits for its work as long as the lease lasts, and gives the lease back. */
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
    // Work of an old term that does not end: let another process lead meanwhile.
    if (this.#term === null && this.#isWorking) return;
    const sentAtMs = timing.nowMs();
    const claimed = await this.#claim.claim(
      this.#term === null ? sentAtMs + this.#pace.renewDeadlineMs / 2 : this.#leadUntilMs,
    );
    if (claimed.held) this.#leadUntilMs = sentAtMs + this.#pace.renewDeadlineMs;
    else if (claimed.failure !== null) this.#report({ during: 'claim', failure: claimed.failure });
    const holds = timing.nowMs() < this.#leadUntilMs;
    if (this.#term !== null && !holds) this.#endTerm();
    if (this.#term === null && claimed.held && holds && !this.#stop.signal.aborted) this.#startTerm();
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

  #report(trouble: ElectionTrouble): void {
    report(() => this.#options.onTrouble(trouble));
  }

  #endTerm(): void {
    this.#term?.abort();
    this.#term = null;
  }
}
