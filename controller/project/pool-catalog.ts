import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { type DatedPool, findLaterOverlaps } from '#pkg/crd/later-overlaps.ts';
import { type ReservedAddresses, reservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import { type DatedSubnet, findSubnetOverlaps, type SubnetOverlaps } from '#pkg/crd/subnet-overlaps.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { apiVersionOf, isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolFacts } from './pool-conditions.ts';

type Reading = { readonly pool: Pool; readonly problem: null } | { readonly pool: null; readonly problem: string };

/** The pools as objects and decoded, with their overlaps and the reserved addresses. */
export class PoolReadings implements Disposable {
  readonly #pools: ObjectView;
  readonly #reserved: ObjectView;
  readonly #readings = new WeakMap<KubeObject, Reading>();
  readonly #subscriptions: readonly Disposable[];
  readonly #subnets: ObjectView;
  #overlaps: ReadonlyMap<string, string> | null = null;
  #subnetOverlaps: SubnetOverlaps | null = null;
  #reservedSets: ReservedAddresses | null = null;

  constructor(pools: ObjectView, reserved: ObjectView, subnets: ObjectView) {
    this.#pools = pools;
    this.#subnets = subnets;
    this.#reserved = reserved;
    this.#subscriptions = [
      pools.onChange(() => {
        this.#overlaps = null;
        this.#subnetOverlaps = null;
      }),
      subnets.onChange(() => {
        this.#subnetOverlaps = null;
      }),
      reserved.onChange(() => {
        this.#reservedSets = null;
      }),
    ];
  }

  /** Ends the subscriptions; the caches live longer than this object. */
  [Symbol.dispose](): void {
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }

  /** The pools that overlap an earlier one, and why. */
  overlaps(): ReadonlyMap<string, string> {
    this.#overlaps ??= findLaterOverlaps(this.#dated());
    return this.#overlaps;
  }

  /** The pools and subnets that contradict an earlier subnet or pool, and why. */
  subnetOverlaps(): SubnetOverlaps {
    this.#subnetOverlaps ??= findSubnetOverlaps(this.#datedSubnets(), this.#dated());
    return this.#subnetOverlaps;
  }

  names(): string[] {
    return [...this.#pools.all()].map(({ metadata }) => metadata.name);
  }

  find(name: string): { readonly object: KubeObject; readonly facts: PoolFacts } | null {
    const object = this.#pools.get({ name });
    if (object === null) return null;
    const reading = this.#read(object);
    const facts = {
      name,
      generation: object.metadata.generation ?? 0,
      ...reading,
      overlap: this.overlaps().get(name) ?? null,
      subnetOverlap: this.subnetOverlaps().pools.get(name) ?? null,
      reserved: reading.pool === null ? IntervalSet.EMPTY : this.reserved(reading.pool.family),
    };
    return { object, facts };
  }

  reserved(family: Family): IntervalSet {
    this.#reservedSets ??= reservedAddresses([...this.#reserved.all()].flatMap(readReservedIp));
    return this.#reservedSets[family];
  }

  #read(object: KubeObject): Reading {
    const known = this.#readings.get(object);
    if (known !== undefined) return known;
    const reading = readPool(object);
    this.#readings.set(object, reading);
    return reading;
  }

  *#datedSubnets(): Generator<DatedSubnet> {
    for (const object of this.#subnets.all()) {
      const subnet = readSubnet(object);
      if (subnet !== null) yield { subnet, createdAt: object.metadata.creationTimestamp ?? '' };
    }
  }

  *#dated(): Generator<DatedPool> {
    for (const object of this.#pools.all()) {
      const { pool } = this.#read(object);
      if (pool !== null) yield { pool, createdAt: object.metadata.creationTimestamp ?? '' };
    }
  }
}

/** The names whose text is another one now. */
export function changedNames(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}

/** Null: it cannot be decoded, and admission has refused it with the reason. */
export function readSubnet(object: KubeObject): SpiderSubnet | null {
  try {
    return decodeSpiderSubnet(withKind(SUBNETS, object));
  } catch {
    return null;
  }
}

/** `spec.subnet` as it is written. */
export function networkOf(object: { readonly [field: string]: unknown }): string {
  const subnet = isMap(object['spec']) ? object['spec']['subnet'] : undefined;
  return typeof subnet === 'string' ? subnet : '';
}

function readPool(object: KubeObject): Reading {
  try {
    return { pool: decodePool(withKind(POOLS, object)), problem: null };
  } catch (thrown) {
    return { pool: null, problem: toIpamError(thrown).message };
  }
}

/** A reservation that cannot be decoded has no effect; admission has refused it to its author. */
function readReservedIp(object: KubeObject): ReservedIp[] {
  try {
    return [decodeReservedIp(withKind(RESERVED_IPS, object))];
  } catch {
    return [];
  }
}

function withKind(resource: Resource, object: KubeObject): object {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
