import type { Logger } from 'pino';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { AdoptionWatch } from './adoption-marker.ts';
import { PodCache } from './pod-cache.ts';
import { NamespaceCache, NodeLabels, TopController } from './pod-surroundings.ts';
import { PoolCache } from './pool-cache.ts';
import { untilServerFits } from './until-server-fits.ts';

interface NodeWatchesOptions {
  readonly node: string;
  readonly namespace: string;
  /** The store of the API server was restored from a backup. */
  readonly onRestored?: () => void;
  /** The API server answers again after a break. */
  readonly onReconnected?: () => void;
}

/** Everything an agent watches. Every watch here is multiplied by the number of nodes. */
export class NodeWatches implements AsyncDisposable {
  readonly pods: PodCache;
  readonly pools: PoolCache;
  readonly namespaces: NamespaceCache;
  readonly nodeLabels: NodeLabels;
  readonly controllers: TopController;
  readonly #adoption: AdoptionWatch;
  readonly #untilServerFits: (waitFor: (what: string) => void) => Promise<void>;
  readonly #stop = new AbortController();
  #serverFits: Promise<void> | null = null;

  constructor(client: KubeClient, { namespace, ...options }: NodeWatchesOptions, log: Logger) {
    const { node } = options;
    this.pods = new PodCache(client, { ...options, log });
    this.pools = new PoolCache(client, log);
    this.namespaces = new NamespaceCache(client, log);
    this.nodeLabels = new NodeLabels(client, node, log);
    this.controllers = new TopController(client);
    this.#adoption = new AdoptionWatch(client, namespace, log);
    this.#untilServerFits = (waitFor) => untilServerFits(client, log, waitFor, this.#stop.signal);
  }

  /** Waits until all caches are synced; `waitFor` is called with what is still missing. Rejects only when disposed before that. */
  async open(waitFor: (what: string) => void): Promise<void> {
    this.#serverFits ??= this.#untilServerFits(waitFor);
    await this.#serverFits;
    waitFor('the pods of this node have not been read yet');
    await this.pods.synced;
    waitFor('the pools have not been read yet');
    await this.pools.synced;
    waitFor('namespaces and node have not been read yet');
    await Promise.all([this.namespaces.synced, this.nodeLabels.synced]);
    waitFor("the cluster's addresses have not been taken over yet (ConfigMap ipledger-adopted is missing)");
    await this.#adoption.adopted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const watched = [this.pods, this.pools, this.namespaces, this.nodeLabels, this.#adoption];
    await Promise.all(watched.map((it) => it[Symbol.asyncDispose]()));
  }
}
