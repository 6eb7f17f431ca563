import { applicationOfPool } from '#controller/allot/application-of-pool.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { type PoolRanges, readPoolRanges } from '#pkg/crd/pool-ranges.ts';
import { apiVersionOf, isOlder, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { applicationKey } from './applications.ts';
import { type GonePool, GonePools } from './gone-pools.ts';

/** A write is answered within seconds; meanwhile fewer pools than this go. */
const MOST_GONE = 1_000;

export interface PoolNow {
  readonly object: KubeObject;
  /** Null: the spec cannot be read, and the pool gives out nothing. */
  readonly pool: Pool | null;
  /** Null: not even its network can be read. */
  readonly ranges: PoolRanges | null;
}

/** The pools of the cache, and over them what this process wrote itself and the cache has not seen yet: a plan must not give it out twice. */
export class PoolsNow implements Disposable {
  readonly #view: ObjectView;
  readonly #written = new Map<string, KubeObject>();
  /** The uids of pools that the cache saw go, the last ones. */
  readonly #gone = new Set<string>();
  readonly #read = new WeakMap<KubeObject, PoolNow>();
  /** Every pool as it is, or was until the change that is being looked at. */
  readonly #last = new Map<string, PoolNow>();
  /** The names of the pools of each application. */
  readonly #byApplication = new Map<string, Set<string>>();
  readonly #gonePools: GonePools;
  readonly #subscription: Disposable;

  constructor(view: ObjectView, now: () => Date) {
    this.#view = view;
    this.#gonePools = new GonePools(now);
    this.#subscription = view.onChange(({ name, uid }) => {
      const [seen, written] = [view.get({ name }), this.#written.get(name)];
      if (seen === null) this.#noteGone(uid);
      if (seen === null || (written !== undefined && !isBehind(seen, written))) this.#written.delete(name);
      this.#follow(name);
    });
    for (const { metadata } of view.all()) this.#follow(metadata.name);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** What a write returned. The pool may be gone by now: the cache can be faster than the answer. */
  noteWritten(object: KubeObject): void {
    if (this.#gone.has(object.metadata.uid)) return;
    const seen = this.#view.get(object.metadata);
    if (seen === null || isBehind(seen, object)) this.#written.set(object.metadata.name, object);
    this.#follow(object.metadata.name);
  }

  has(name: string): boolean {
    return this.#written.has(name) || this.#view.get({ name }) !== null;
  }

  find(name: string): PoolNow | null {
    const object = this.#written.get(name) ?? this.#view.get({ name });
    return object === null ? null : this.#reading(object);
  }

  /** The pools that were made for an application of this kind and name, whatever its uid was. */
  of(application: Omit<Controller, 'uid'>): PoolNow[] {
    return [...(this.#byApplication.get(applicationKey(application)) ?? [])].flatMap((name) => this.find(name) ?? []);
  }

  *all(): Generator<PoolNow> {
    for (const object of this.#written.values()) yield this.#reading(object);
    for (const object of this.#view.all()) if (!this.#written.has(object.metadata.name)) yield this.#reading(object);
  }

  /** The pools that the cache saw go a moment ago. */
  gone(now: Date): GonePool[] {
    return this.#gonePools.list(now);
  }

  #follow(name: string): void {
    const [before, now] = [this.#last.get(name) ?? null, this.find(name)];
    if (before !== null && before.object.metadata.uid !== now?.object.metadata.uid) this.#gonePools.note(before);
    if (now === null) this.#last.delete(name);
    else this.#last.set(name, now);
    const [from, to] = [keyOf(before), keyOf(now)];
    if (from === to) return;
    if (from !== null) {
      const names = this.#byApplication.get(from);
      names?.delete(name);
      if (names?.size === 0) this.#byApplication.delete(from);
    }
    if (to !== null) this.#byApplication.set(to, (this.#byApplication.get(to) ?? new Set()).add(name));
  }

  #noteGone(uid: string): void {
    this.#gone.add(uid);
    const [oldest] = this.#gone;
    if (this.#gone.size > MOST_GONE && oldest !== undefined) this.#gone.delete(oldest);
  }

  #reading(object: KubeObject): PoolNow {
    const known = this.#read.get(object);
    if (known !== undefined) return known;
    const whole = { ...object, apiVersion: apiVersionOf(POOLS), kind: POOLS.kind };
    const reading = { object, pool: tryDecode(whole), ranges: readPoolRanges(whole) };
    this.#read.set(object, reading);
    return reading;
  }
}

function keyOf(now: PoolNow | null): string | null {
  const application = now === null || now.pool === null ? null : applicationOfPool(now.pool);
  return application === null ? null : applicationKey(application);
}

function isBehind(seen: KubeObject, written: KubeObject): boolean {
  return isOlder(seen.metadata.resourceVersion, written.metadata.resourceVersion);
}

function tryDecode(object: object): Pool | null {
  try {
    return decodePool(object);
  } catch {
    return null;
  }
}
