import type { ApiObject, ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import { CLAIM_POOL, CLUSTER_NAMES } from './machine-site.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES, isStaying } from './machines.ts';

/** Most claims of each pool at once. */
const MOST_OF_POOL: Readonly<Record<string, number>> = { stateless: 6, [CLAIM_POOL]: 5 };
const NAMES = 12;

/** An infrastructure provider of Cluster API that makes and deletes claims, and users who pause clusters and delete IPAddresses. */
export class SimClaims {
  readonly #api: ChaosApi;
  readonly #random: Random;

  constructor(api: ChaosApi, random: Random) {
    this.#api = api;
    this.#random = random;
  }

  /** One random action. */
  async act(): Promise<string> {
    const acts = [
      () => this.#create(),
      () => this.#create(),
      () => this.#create(),
      () => this.#delete(),
      () => this.#delete(),
      () => this.#deleteAddress(),
      () => this.#pause(this.#random.isOneIn(3)),
    ];
    return await this.#random.pick(acts)();
  }

  /** Nothing is paused any more. */
  async calmDown(): Promise<void> {
    for (const name of CLUSTER_NAMES) await this.#api.patch(`${CLUSTERS}/${name}`, unpaused);
  }

  /** Names are used again: the next claim of a name has another uid. */
  async #create(): Promise<string> {
    const claims = await this.#api.list(CLAIMS);
    const names = new Set(claims.map(({ metadata }) => metadata.name));
    const free = Array.from({ length: NAMES }, (_, at) => `vm-${at}`).filter((name) => !names.has(name));
    const pools = Object.keys(MOST_OF_POOL).filter(
      (pool) => claims.filter((claim) => poolOf(claim) === pool).length < (MOST_OF_POOL[pool] ?? 0),
    );
    if (free.length === 0 || pools.length === 0) return 'nothing';
    const name = this.#random.pick(free);
    const pool = this.#random.pick(pools);
    const cluster = this.#random.pick([...CLUSTER_NAMES, null]);
    const poolRef = { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: pool };
    const spec = { poolRef, ...(cluster === null ? {} : { clusterName: cluster }) };
    const kind = { apiVersion: 'ipam.cluster.x-k8s.io/v1beta2', kind: 'IPAddressClaim' };
    await this.#api.create(CLAIMS, { ...kind, metadata: { name }, spec });
    return `create claim ${name} of ${pool}`;
  }

  async #delete(): Promise<string> {
    return await this.#deleteOne(CLAIMS);
  }

  /** By hand, while its claim lives. */
  async #deleteAddress(): Promise<string> {
    return await this.#deleteOne(IP_ADDRESSES);
  }

  async #deleteOne(path: string): Promise<string> {
    const staying = (await this.#api.list(path)).filter(isStaying);
    if (staying.length === 0) return 'nothing';
    const { name, uid } = this.#random.pick(staying).metadata;
    await this.#api.remove(`${path}/${name}`, { preconditions: { uid } });
    return `delete ${path}/${name}`;
  }

  async #pause(isPaused: boolean): Promise<string> {
    const name = this.#random.pick(CLUSTER_NAMES);
    await this.#api.patch(`${CLUSTERS}/${name}`, isPaused ? paused : unpaused);
    return `${isPaused ? 'pause' : 'unpause'} cluster ${name}`;
  }
}

const paused = { spec: { paused: true } };
const unpaused = { spec: { paused: null } };

export function poolOf({ spec }: ApiObject): string {
  return String((spec?.['poolRef'] as { readonly name?: string } | undefined)?.name);
}
