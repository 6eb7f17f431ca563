import { setTimeout as sleep } from 'node:timers/promises';
import { readCalls } from './cluster-calls.ts';
import { type ClusterSite, inFlight } from './cluster-site.ts';
import { countObjects } from './controller-site.ts';

const IN_FLIGHT = 32;
/** Rarely: what the API server does for the count is missing to the controller. */
const LOOK_EVERY_MS = 250;
/** The API server counts a request shortly after its answer, and the watch of the controller has seen it by then. */
const SETTLE_MS = 1_000;
const IPAM = '/apis/ipam.cluster.x-k8s.io/v1beta2/namespaces/default';
const OF_CLAIMS = `${IPAM}/ipaddressclaims`;
const OF_ADDRESSES = `${IPAM}/ipaddresses`;
const OF_CLUSTERS = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters';
const CLUSTER = 'blue';
const KINDS = /\b(ipaddressclaims(\/status)?|ipaddresses|iprecords|clusters) 2/;
/** The one that ends the pause. */
const OWN_WRITES = 1;

export interface Stretch {
  readonly perSecond: number;
  readonly writes: number;
  readonly reads: number;
}

interface SeenClaim {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface SeenAddress {
  readonly spec: { readonly address: string; readonly poolRef: { readonly name: string } };
}

/** Many claims at once: they are made, or deleted, while their cluster is paused. */
export class ClaimBench {
  readonly #site: ClusterSite;

  private constructor(site: ClusterSite) {
    this.#site = site;
  }

  /** With a first claim that stays: the controller has found Cluster API, and has given addresses. */
  static async start(site: ClusterSite): Promise<ClaimBench> {
    await site.create(OF_CLAIMS, claimOf('warm-up', 'warm-up'));
    while ((await countObjects(site, OF_ADDRESSES)) === 0) await sleep(LOOK_EVERY_MS);
    await site.create(OF_CLUSTERS, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: CLUSTER },
      spec: { infrastructureRef: { apiGroup: 'infra.test', kind: 'Test', name: CLUSTER }, paused: true },
    });
    return new ClaimBench(site);
  }

  async fulfil(names: readonly string[], pool: string): Promise<Stretch> {
    await this.#pause(true);
    await inFlight(names, IN_FLIGHT, (name) => this.#site.create(OF_CLAIMS, claimOf(name, pool, CLUSTER)));
    return await this.#measure(names.length, async () => {
      while ((await countObjects(this.#site, OF_ADDRESSES)) < names.length + 1) await sleep(LOOK_EVERY_MS);
      while (!(await this.#areReady())) await sleep(LOOK_EVERY_MS);
    });
  }

  async end(names: readonly string[]): Promise<Stretch> {
    await this.#pause(true);
    await inFlight(names, IN_FLIGHT, (name) => this.#site.remove(`${OF_CLAIMS}/${name}`));
    return await this.#measure(names.length, async () => {
      while ((await countObjects(this.#site, OF_CLAIMS)) > 1) await sleep(LOOK_EVERY_MS);
    });
  }

  async countDistinct(pool: string): Promise<number> {
    const { items } = await this.#site.read<{ items: SeenAddress[] }>(OF_ADDRESSES);
    return new Set(items.filter(({ spec }) => spec.poolRef.name === pool).map(({ spec }) => spec.address)).size;
  }

  /** From the end of the pause until `isDone`, and the requests of that time. */
  async #measure(count: number, untilDone: () => Promise<void>): Promise<Stretch> {
    const { server } = this.#site;
    await sleep(SETTLE_MS);
    const before = readCalls(await server.metrics());
    const startedMs = performance.now();
    await this.#pause(false);
    await untilDone();
    const seconds = (performance.now() - startedMs) / 1_000;
    await sleep(SETTLE_MS);
    const after = readCalls(await server.metrics());
    const grown = (verbs: RegExp) =>
      [...after]
        .filter(([call]) => verbs.test(call) && KINDS.test(call))
        .reduce((sum, [call, now]) => sum + now - (before.get(call) ?? 0), 0);
    return {
      perSecond: count / seconds,
      writes: (grown(/^(POST|PUT|PATCH|DELETE) /) - OWN_WRITES) / count,
      reads: grown(/^GET /) / count,
    };
  }

  async #pause(paused: boolean): Promise<void> {
    await this.#site.patch(`${OF_CLUSTERS}/${CLUSTER}`, { spec: { paused } });
    // The watch of the controller has seen it before the claims change.
    if (paused) await sleep(SETTLE_MS);
  }

  async #areReady(): Promise<boolean> {
    const { items } = await this.#site.read<{ items: SeenClaim[] }>(OF_CLAIMS);
    return items.every(({ status }) => status?.conditions?.some((it) => it.type === 'Ready' && it.status === 'True'));
  }
}

function claimOf(name: string, pool: string, clusterName?: string): object {
  return {
    apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
    kind: 'IPAddressClaim',
    metadata: { name },
    spec: {
      ...(clusterName === undefined ? {} : { clusterName }),
      poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: pool },
    },
  };
}
