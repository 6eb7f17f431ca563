import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { decodeReservedIp, type ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { type DatedPool, findLaterOverlaps } from '#pkg/crd/later-overlaps.ts';
import { type ReservedAddresses, reservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { apiVersionOf, type Resource } from '#pkg/kube/objects/resource.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolFacts } from './pool-conditions.ts';

type Reading = { readonly pool: Pool; readonly problem: null } | { readonly pool: null; readonly problem: string };

/** The pools as objects and decoded, with their overlaps and the reserved addresses. */
export class PoolReadings implements Disposable {
  readonly #pools: ObjectView;
  readonly #reserved: ObjectView;
  readonly #readings = new WeakMap<KubeObject, Reading>();
  readonly #subscriptions: readonly Disposable[];
  #overlaps: ReadonlyMap<string, string> | null = null;
  #reservedSets: ReservedAddresses | null = null;

  constructor(pools: ObjectView, reserved: ObjectView) {
    this.#pools = pools;
    this.#reserved = reserved;
    this.#subscriptions = [
      pools.onChange(() => {
        this.#overlaps = null;
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

  *#dated(): Generator<DatedPool> {
    for (const object of this.#pools.all()) {
      const { pool } = this.#read(object);
      if (pool !== null) yield { pool, createdAt: object.metadata.creationTimestamp ?? '' };
    }
  }
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
