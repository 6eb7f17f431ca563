import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import { DOMAIN_ANNOTATION } from '#pkg/crd/decode-domain.ts';
import { isMap, type KubeObject, type ObjectName } from '#pkg/kube/objects/kube-object.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { type NetworkNamespace, type RangeRules, readNetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';

interface Reading {
  /** The object that was read last. Its print is made once. */
  object: KubeObject;
  readonly print: string;
  readonly network: NetworkNamespace;
  readonly ttlSinceMs: number;
}

interface Found {
  readonly network: NetworkNamespace;
  readonly facts: PoolFacts | null;
  /** Since when its `ttlSeconds` are what they are, in the time since the start of the process. */
  readonly ttlSinceMs: number;
}

/** The NetworkNamespaces and their pools. A pool stays the same object while nothing that it rests on changes. */
export class NetworkPools implements Disposable {
  readonly #networks: ObjectView;
  readonly #catalog: Pick<PoolReadings, 'reserved'>;
  readonly #rules: RangeRules;
  readonly #nowMs: () => number;
  readonly #readings = new Map<string, Reading>();
  readonly #edits = new Listeners<string>();
  readonly #subscription: Disposable;

  constructor(networks: ObjectView, catalog: Pick<PoolReadings, 'reserved'>, rules: RangeRules, nowMs: () => number) {
    this.#networks = networks;
    this.#catalog = catalog;
    this.#rules = rules;
    this.#nowMs = nowMs;
    this.#subscription = networks.onChange((at) => this.#follow(at));
  }

  /** `name`: the pool's, `namespace/name`. */
  find(name: string): Found | null {
    const reading = this.#read(name);
    if (reading === undefined) return null;
    const { network, ttlSinceMs } = reading;
    const { generation, problem } = network;
    const pool = network.network?.pool ?? null;
    if (pool === null) return { network, facts: null, ttlSinceMs };
    const reserved = this.#catalog.reserved(pool.family);
    const facts = { name, generation, pool, problem, overlap: null, subnetOverlap: null, reserved };
    return { network, facts, ttlSinceMs };
  }

  /** Those of one namespace, or all. */
  *all(namespace?: string): Generator<{ readonly object: KubeObject; readonly network: NetworkNamespace }> {
    for (const object of this.#networks.all()) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      const network = this.#read(keyOf(object.metadata))?.network;
      if (network !== undefined) yield { object, network };
    }
  }

  /** Called with the names of pools that were made, changed or deleted. What others write into the status besides is no change. */
  onEdit(listener: (name: string) => void): Disposable {
    return this.#edits.add(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #follow(at: ObjectName): void {
    const name = keyOf(at);
    const before = this.#readings.get(name);
    if (this.#read(name) !== before || before === undefined) this.#edits.tell(name);
  }

  #read(name: string): Reading | undefined {
    const object = this.#networks.get(nameOfKey(name));
    const known = this.#readings.get(name);
    if (object === null) return void this.#readings.delete(name);
    if (known?.object === object) return known;
    const print = printOf(object);
    if (known?.print === print) {
      known.object = object;
      return known;
    }
    const network = readNetworkNamespace(object, this.#rules);
    if (network === null) return undefined;
    const isSameTtl = known !== undefined && known.network.network?.ttlSeconds === network.network?.ttlSeconds;
    const reading = { object, print, network, ttlSinceMs: isSameTtl ? known.ttlSinceMs : this.#nowMs() };
    this.#readings.set(name, reading);
    return reading;
  }
}

/** What a pool rests on: an edit makes all its allocations be looked at, and others write annotations and statuses all the time. */
function printOf({ metadata, spec, status }: KubeObject): string {
  const { uid, deletionTimestamp } = metadata;
  const domain = metadata.annotations?.[DOMAIN_ANNOTATION];
  const { provisioningPhase, ipv4Prefix, vlanId } = isMap(status) ? status : {};
  const allocation = isMap(spec) ? spec['ipAllocation'] : undefined;
  return JSON.stringify([uid, domain, deletionTimestamp, provisioningPhase, ipv4Prefix, vlanId, allocation]);
}
