import type { Logger } from 'pino';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { NODES } from '#pkg/kube/objects/core-resources.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { logTrouble } from './watch-trouble.ts';

/** The labels of this node. */
export class NodeLabels implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #node: string;
  readonly #reflector: Reflector;
  #labels: Labels | null = null;

  constructor(client: KubeClient, node: string, log: Logger) {
    this.#node = node;
    this.#reflector = new Reflector(client, {
      resource: NODES,
      query: { fieldSelector: `metadata.name=${node}` },
      form: 'metadata',
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'this node'),
    });
    this.synced = this.#reflector.synced;
  }

  /** Throws while there is no such node: without its labels nobody can say which pools are for it. */
  current(): Labels {
    if (this.#labels === null) {
      throw new IpamError(
        'api-server-unavailable',
        `the Node ${this.#node} is not known to the API server, or not yet read`,
      );
    }
    return this.#labels;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Deleted') this.#labels = null;
    else if (event.type !== 'Synced') this.#labels = event.object.metadata.labels ?? {};
  }
}
