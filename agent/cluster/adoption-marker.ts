import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { CONFIG_MAPS } from '#pkg/kube/objects/core-resources.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import { logTrouble } from './watch-trouble.ts';

const NAME = 'ipledger-adopted';

/** Whether what Spiderpool had given away is in the ledger: until then no address may be handed out. */
export class AdoptionWatch implements AsyncDisposable {
  /** Rejects only if this was disposed of before. */
  readonly adopted: Promise<void>;
  readonly #reflector: Reflector;
  readonly #giveUp: (error: Error) => void;
  #isAdopted = false;

  constructor(client: KubeClient, namespace: string, log: Logger) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.adopted = promise;
    this.#giveUp = reject;
    promise.catch(() => {}); // a promise without a waiter must not end the process
    this.#reflector = new Reflector(client, {
      resource: CONFIG_MAPS,
      query: { namespace, fieldSelector: `metadata.name=${NAME}` },
      form: 'metadata',
      onEvent: ({ type }) => {
        if (type !== 'Added') return;
        this.#isAdopted = true;
        resolve();
        // The marker is never removed, so the watch may end.
        void this.#reflector[Symbol.asyncDispose]();
      },
      onTrouble: logTrouble(log, `ConfigMap ${namespace}/${NAME}`),
    });
  }

  get isAdopted(): boolean {
    return this.#isAdopted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reflector[Symbol.asyncDispose]();
    this.#giveUp(new Error('the agent stops; it no longer waits for the adoption'));
  }
}
