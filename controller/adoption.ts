import type { Logger } from 'pino';
import type { LeaderTask, Term } from '#controller/reconcile/leader-task.ts';
import { adopt, lookForLegacy } from '#pkg/adopt/adopt.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';

const LOOK_EVERY_MS = 15_000;

export interface AdoptionDeps {
  readonly client: KubeClient;
  readonly podName: string;
  readonly log: Logger;
  readonly now: () => Date;
}

/**
 * A cluster that shows nothing of Spiderpool, neither addresses nor accounts, is marked as adopted at once. Otherwise an
 * operator must say so (`ipledgerctl import`, which asks what the accounts may do): only they know that nobody else gives
 * out addresses any more. Until then nothing is projected and nothing collected.
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

  async #open(term: Term): Promise<boolean> {
    const { client } = this.#deps;
    while (!this.#isAdopted && !term.signal.aborted) {
      this.#isAdopted = await this.#look(term);
      if (!this.#isAdopted) await sleep(client.timing, LOOK_EVERY_MS, term.signal);
    }
    return !term.signal.aborted;
  }

  async #look(term: Term): Promise<boolean> {
    const { client, podName, log, now } = this.#deps;
    const { isAdopted, addresses, unreadable, accounts } = await lookForLegacy(client);
    if (isAdopted) return true;
    if (addresses + unreadable + accounts.length > 0) {
      log.warn({ addresses, unreadable, accounts }, 'Spiderpool is or was here: run ipledgerctl import; agents wait');
      return false;
    }
    if (!term.mayWrite()) return false;
    const marker = { adoptedAt: now().toISOString(), adoptedBy: podName };
    const { outcome } = await adopt(client, { dryRun: false, marker });
    return outcome === 'adopted' || outcome === 'already-adopted';
  }
}
