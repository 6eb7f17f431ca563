import type { Logger } from 'pino';
import { ClusterView, RESTORED } from '#controller/cluster-view/cluster-view.ts';
import type { LeaderTask, Term } from '#controller/reconcile/leader-task.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { Election, type ElectionPace, type ElectionTrouble } from '#pkg/kube/leader/election.ts';
import { Backoff, sleep, type Timing } from '#pkg/kube/transport/timing.ts';

export interface ControllerDeps {
  readonly client: KubeClient;
  readonly tasks: readonly LeaderTask[];
  readonly log: Logger;
  readonly timing: Timing;
  readonly now: () => Date;
  readonly leaseFreshMs: number;
}

export interface ControllerConfig {
  readonly podName: string;
  readonly podNamespace: string;
  readonly leaseName: string;
  readonly pace: ElectionPace;
}

/** A task that failed is run again with backoff. */
const PAUSE = { firstMs: 1_000, mostMs: 60_000 };
/** The lease is claimed every few seconds: a failure older than this is over. */
const TROUBLE_FOR_MS = 10_000;

/** Takes part in leader election and, while it is the leader, runs its tasks on one shared view. Disposing ends the term and releases the lease. */
export class LeaderController implements AsyncDisposable {
  readonly #deps: ControllerDeps;
  readonly #namespace: string;
  readonly #election: Election;
  #view: ClusterView | null = null;
  #troubleAtMs = Number.NEGATIVE_INFINITY;

  constructor(config: ControllerConfig, deps: ControllerDeps) {
    this.#deps = deps;
    this.#namespace = config.podNamespace;
    this.#election = new Election(deps.client, {
      namespace: config.podNamespace,
      name: config.leaseName,
      identity: config.podName,
      now: deps.now,
      pace: config.pace,
      lead: (signal) => this.#lead(signal),
      onTrouble: (trouble) => this.#onTrouble(trouble),
      onRestored: () =>
        deps.log.error(`${RESTORED}: a leader begins anew, and lets agents write lost records back first`),
    });
  }

  isLeader(): boolean {
    return this.#election.isLeader();
  }

  startup(): string | null {
    return null;
  }

  readiness(): string | null {
    if (this.#deps.timing.nowMs() - this.#troubleAtMs < TROUBLE_FOR_MS) return 'the lease cannot be read or written';
    return this.#view === null || this.#view.isSynced ? null : 'caches have not synced yet';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#election[Symbol.asyncDispose]();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { client, log, timing, tasks, leaseFreshMs } = this.#deps;
    log.info({ tasks: tasks.map(({ name }) => name) }, 'elected leader');
    const agentNamespace = this.#namespace;
    await using view = new ClusterView({ client, log, nowMs: () => timing.nowMs(), leaseFreshMs, agentNamespace });
    this.#view = view;
    try {
      if (!(await isDoneBefore(view.synced, signal))) return;
      log.info({ records: view.records.size, pods: view.pods.size }, 'caches synced');
      const term = { signal, view, mayWrite: () => !signal.aborted && this.#election.isLeader() };
      await Promise.all(tasks.map((task) => this.#runTask(task, term)));
      await isDoneBefore(new Promise(() => {}), signal);
    } finally {
      this.#view = null;
      log.info('lost leadership');
    }
  }

  async #runTask(task: LeaderTask, term: Term): Promise<void> {
    const { log, timing } = this.#deps;
    const backoff = new Backoff(PAUSE, timing.random);
    while (!term.signal.aborted) {
      try {
        await task.run(term);
        return;
      } catch (thrown) {
        if (term.signal.aborted) return;
        const retryInMs = backoff.nextMs();
        log.error({ task: task.name, err: thrown, retryInMs }, 'leader task failed');
        await sleep(timing, retryInMs, term.signal);
      }
    }
  }

  #onTrouble(trouble: ElectionTrouble): void {
    if (trouble.during === 'claim') this.#troubleAtMs = this.#deps.timing.nowMs();
    const why = trouble.during === 'claim' ? trouble.failure.message : toIpamError(trouble.thrown).message;
    this.#deps.log.warn({ during: trouble.during, why }, 'leader election failed');
  }
}

/** False when the signal is aborted first. */
function isDoneBefore(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
    promise.then(() => resolve(true), reject);
  });
}
