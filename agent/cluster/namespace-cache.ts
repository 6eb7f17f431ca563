import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { toApiError } from '#pkg/kube/objects/api-error.ts';
import { NAMESPACES } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { logTrouble } from './watch-trouble.ts';

export interface NamespaceFacts {
  readonly labels: Labels;
  /** Those of the rules; the rest would be kept in vain. */
  readonly annotations: Labels;
}

const READ_TIMEOUT_MS = 5_000;

/** Labels and annotations of all namespaces by watch, with one read where a pod was faster than the watch. */
export class NamespaceCache implements AsyncDisposable {
  readonly synced: Promise<void>;
  readonly #client: KubeClient;
  readonly #known = new Map<string, NamespaceFacts>();
  readonly #reflector: Reflector;

  constructor(client: KubeClient, log: Logger) {
    this.#client = client;
    this.#reflector = new Reflector(client, {
      resource: NAMESPACES,
      form: 'metadata',
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'namespaces'),
    });
    this.synced = this.#reflector.synced;
  }

  /** Null: there is no such namespace. */
  async find(name: string): Promise<NamespaceFacts | null> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const got = await this.#client.get(NAMESPACES, { name }, { form: 'metadata', timeoutMs: READ_TIMEOUT_MS });
    if (got.ok) return factsOf(got.object);
    if (got.because === 'NotFound') return null;
    throw toApiError(`read namespace ${name}`, got, 'the API server does not serve namespaces');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reflector[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Deleted') this.#known.delete(event.identity.name);
    else if (event.type !== 'Synced') this.#known.set(event.object.metadata.name, factsOf(event.object));
  }
}

function factsOf({ metadata: { labels = {}, annotations = {} } }: KubeObject): NamespaceFacts {
  const kept = Object.entries(annotations).filter(([key]) => key.startsWith('ipam.spidernet.io/'));
  return { labels, annotations: Object.fromEntries(kept) };
}
