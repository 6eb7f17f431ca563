import type { Logger } from 'pino';
import type { LeaderTask, Term } from '#controller/reconcile/leader-task.ts';
import type { AdoptionSource } from '#pkg/adopt/adopt.ts';
import { writeMarker } from '#pkg/adopt/adoption-marker.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';

const LOOK_EVERY_MS = 15_000;

export interface AdoptionDeps {
  readonly client: KubeClient;
  readonly podNamespace: string;
  readonly podName: string;
  readonly log: Logger;
  readonly now: () => Date;
  readonly source: AdoptionSource;
  /** What is said while an operator has to act. */
  readonly advice: string;
}

/**
 * A cluster that shows nothing of another address manager, neither addresses nor accounts, is marked as adopted at once. Otherwise
 * an operator must say so (`ipledgerctl import`, which asks what the accounts may do): only they know that no other program gives out
 * addresses any more. Until then nothing behind the gate runs.
 */
export class AdoptionGate {
  readonly #deps: AdoptionDeps;
  #isAdopted = false;

  constructor(deps: AdoptionDeps) {
    this.#deps = deps;
  }

  behind(task: LeaderTask): LeaderTask {
    return {
      name: task.name,
      run: async (term) => {
        if (await this.#open(term)) await task.run(term);
      },
    };
  }

  /** False: the term has ended. */
  async #open(term: Term): Promise<boolean> {
    const { client } = this.#deps;
    while (!this.#isAdopted && !term.signal.aborted) {
      if (!(await this.#look(term))) await sleep(client.timing, LOOK_EVERY_MS, term.signal);
    }
    return !term.signal.aborted;
  }

  /** Whether it is open now. What cannot be read is logged: then it is not. */
  async isOpen(term: Pick<Term, 'mayWrite'>): Promise<boolean> {
    try {
      return await this.#look(term);
    } catch (thrown) {
      this.#deps.log.warn({ err: thrown }, 'adoption cannot be checked');
      return false;
    }
  }

  async #look(term: Pick<Term, 'mayWrite'>): Promise<boolean> {
    if (this.#isAdopted) return true;
    const { client, source, podNamespace: namespace, podName, log, now, advice } = this.#deps;
    const { isAdopted, addresses, unreadable, accounts } = await source.lookForLegacy(client, namespace);
    if (isAdopted) {
      this.#isAdopted = true;
      return true;
    }
    if (addresses + unreadable + accounts.length > 0) {
      log.warn({ addresses, unreadable, accounts }, advice);
      return false;
    }
    if (!term.mayWrite()) return false;
    const marker = { adoptedAt: now().toISOString(), adoptedBy: podName };
    // It does no harm if another replica was faster.
    await writeMarker(client, { namespace, name: source.marker }, marker);
    this.#isAdopted = true;
    return true;
  }
}
