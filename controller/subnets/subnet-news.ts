import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { readSubnet } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import type { Enqueue } from '#controller/reconcile/reconciler.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { cidrsOverlap } from '#pkg/ip/cidr.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordValue } from '#pkg/record/record-value.ts';
import type { ApplicationChange, AskingApplications } from './applications.ts';
import type { PoolOwners } from './pool-owners.ts';
import type { PoolsNow } from './pools-now.ts';

export interface NewsSources {
  readonly applications: AskingApplications;
  readonly unserved: Pick<AskingApplications, 'onChange'>;
  readonly owners: Pick<PoolOwners, 'onChange'>;
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly poolsNow: PoolsNow;
  readonly reserved: ObjectView;
  readonly records: RecordsView;
  /** Whether a record of the pool that goes matters to the subnet. */
  readonly isAwaited: (subnet: string, pool: string) => boolean;
}

interface KnownPool {
  readonly stamp: string;
  readonly ranges: PoolRanges | null;
}

/** Which subnets have to be looked at again. Records come and go all the time, and almost none of that changes a pool. */
export class SubnetNews {
  readonly #sources: NewsSources;
  readonly #enqueue: Enqueue;
  readonly #pools = new Map<string, KnownPool>();

  constructor(sources: NewsSources, enqueue: Enqueue) {
    this.#sources = sources;
    this.#enqueue = enqueue;
  }

  subscribe(): Disposable[] {
    const { applications, unserved, owners, subnets, pools, reserved, records } = this.#sources;
    for (const { metadata } of pools.all()) this.#onPool(metadata.name);
    this.#enqueueAll();
    return [
      applications.onChange((change) => this.#onApplication(change)),
      unserved.onChange(({ subnets: named }) => named.forEach(this.#enqueue)),
      owners.onChange((application) => this.#onApplication({ application, subnets: [] })),
      subnets.onChange(({ name }) => this.#enqueue(name)),
      pools.onChange(({ name }) => this.#onPool(name)),
      reserved.onChange(() => this.#enqueueAll()),
      records.onChange(({ before, after }) => this.#onRecord(before, after)),
    ];
  }

  #enqueueAll(): void {
    for (const { metadata } of this.#sources.subnets.all()) this.#enqueue(metadata.name);
    for (const name of this.#sources.applications.subnets()) this.#enqueue(name);
  }

  /** Also where it has pools: an annotation that could not be read for a while does not say any more where that is. */
  #onApplication({ application, subnets }: ApplicationChange): void {
    subnets.forEach(this.#enqueue);
    for (const { ranges } of this.#sources.poolsNow.of(application)) this.#enqueueNear(ranges);
  }

  /** Its status does not matter, and is written most often. */
  #onPool(name: string): void {
    const [before, now] = [this.#pools.get(name), this.#sources.poolsNow.find(name)];
    const stamp = now === null ? '' : stampOf(now.object);
    if (before?.stamp === stamp) return;
    if (now === null) this.#pools.delete(name);
    else this.#pools.set(name, { stamp, ranges: now.ranges });
    this.#enqueueNear(before?.ranges ?? null);
    this.#enqueueNear(now?.ranges ?? null);
  }

  #onRecord(before: IpRecord | null, after: IpRecord | null): void {
    const record = after ?? before;
    const name = record?.spec.pool.name ?? '';
    const pool = this.#sources.poolsNow.find(name);
    const isFault = [before, after].some((it) => it?.spec.state === 'Quarantined' || it?.spec.state === 'Suspect');
    // Also one that goes: no pool could have its address meanwhile.
    const isStray = record !== null && pool?.pool?.addresses.contains(recordValue(record)) === false;
    if (pool !== null && (isFault || isStray)) this.#enqueueNear(pool.ranges);
    if (after !== null) return;
    for (const { metadata } of this.#sources.subnets.all())
      if (this.#sources.isAwaited(metadata.name, name)) this.#enqueue(metadata.name);
  }

  #enqueueNear(ranges: PoolRanges | null): void {
    if (ranges === null) return;
    for (const object of this.#sources.subnets.all()) {
      const subnet = readSubnet(object);
      if (subnet !== null && cidrsOverlap(subnet.subnet, ranges.subnet)) this.#enqueue(subnet.name);
    }
  }
}

function stampOf({ metadata }: KubeObject): string {
  const { uid, generation, deletionTimestamp, labels, annotations } = metadata;
  return JSON.stringify([uid, generation, deletionTimestamp, labels, annotations]);
}
