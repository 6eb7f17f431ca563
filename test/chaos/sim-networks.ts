import type { ChaosApi } from './chaos-api.ts';
import type { Random } from './fuzz-random.ts';
import { NETWORK_NAMES, networkObject } from './machine-site.ts';
import { ALLOCATIONS, CONFIGURATIONS, isStaying, NETWORKS } from './machines.ts';

const NAMES = 5;
const MOST_FIXED = 2;
/** Of the range that lies in the pool of pods. */
const FIXED_PREFIX = '10.60.0.';
const FIXED_FROM = 36;
const FIXED_COUNT = 8;

/** Users of Vitistack: their NetworkConfigurations and NetworkNamespaces come, go, and come again. */
export class SimNetworks {
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
      () => this.#deleteOne(CONFIGURATIONS),
      () => this.#deleteOne(CONFIGURATIONS),
      () => this.#deleteOne(ALLOCATIONS),
      () => this.#createFixed(),
      () => (this.#random.isOneIn(3) ? this.#deleteOne(NETWORKS) : this.#createNetworks()),
    ];
    return await this.#random.pick(acts)();
  }

  /** All NetworkNamespaces are there again. */
  async calmDown(): Promise<void> {
    await this.#createNetworks();
  }

  /** Names are used again: the next one of a name has another uid. */
  async #create(): Promise<string> {
    const names = new Set((await this.#api.list(CONFIGURATIONS)).map(({ metadata }) => metadata.name));
    const free = Array.from({ length: NAMES }, (_, at) => `nc-${at}`).filter((name) => !names.has(name));
    if (free.length === 0) return 'nothing';
    const name = this.#random.pick(free);
    const count = 1 + this.#random.below(2);
    const networkInterfaces = Array.from({ length: count }, (_, at) => ({
      name: `eth${at}`,
      macAddress: `02:00:00:00:0${name.at(-1)}:0${at}`,
    }));
    const spec = { name, networkNamespaceName: this.#random.pick(NETWORK_NAMES), networkInterfaces };
    const kind = { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration' };
    await this.#api.create(CONFIGURATIONS, { ...kind, metadata: { name }, spec });
    return `create NetworkConfiguration ${name} with ${count} interfaces`;
  }

  /** An IPAllocation that a user makes and that asks for one address, which a pod may have. */
  async #createFixed(): Promise<string> {
    const configurations = (await this.#api.list(CONFIGURATIONS)).filter(isStaying);
    const names = new Set((await this.#api.list(ALLOCATIONS)).map(({ metadata }) => metadata.name));
    const free = Array.from({ length: MOST_FIXED }, (_, at) => `fixed-${at}`).filter((name) => !names.has(name));
    if (free.length === 0 || configurations.length === 0) return 'nothing';
    const name = this.#random.pick(free);
    const requestedAddress = `${FIXED_PREFIX}${FIXED_FROM + this.#random.below(FIXED_COUNT)}`;
    const spec = {
      networkNamespaceName: 'shared-network',
      networkConfigurationName: this.#random.pick(configurations).metadata.name,
      interfaceName: name,
      requestedAddress,
    };
    const kind = { apiVersion: 'vitistack.io/v1alpha2', kind: 'IPAllocation' };
    await this.#api.create(ALLOCATIONS, { ...kind, metadata: { name }, spec });
    return `create IPAllocation ${name} for ${requestedAddress}`;
  }

  /** By hand. The controller makes an IPAllocation of an interface again. */
  async #deleteOne(path: string): Promise<string> {
    const staying = (await this.#api.list(path)).filter(isStaying);
    if (staying.length === 0) return 'nothing';
    const { name, uid } = this.#random.pick(staying).metadata;
    await this.#api.remove(`${path}/${name}`, { preconditions: { uid } });
    return `delete ${path}/${name}`;
  }

  async #createNetworks(): Promise<string> {
    const names = new Set((await this.#api.list(NETWORKS)).map(({ metadata }) => metadata.name));
    const missing = NETWORK_NAMES.filter((name) => !names.has(name));
    for (const name of missing) await this.#api.create(NETWORKS, networkObject(name));
    return `create NetworkNamespaces ${missing}`;
  }
}
