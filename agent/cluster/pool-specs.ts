import type { Logger } from 'pino';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import type { DatedPool } from '#pkg/crd/later-overlaps.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { apiVersionOf, isOlder, type KubeObject, type ObjectMeta } from '#pkg/kube/objects/kube-object.ts';
import { FAILURES, type Failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector } from '#pkg/kube/watch/reflector.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { PoolFetcher } from './pool-fetcher.ts';
import { stampOf } from './pool-stamp.ts';
import { logTrouble } from './watch-trouble.ts';

interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly stamp: string;
}

interface Held extends Version {
  readonly createdAt: string;
  readonly pool: Pool | null;
  readonly problem: string | null;
}

/**
 * All pools, from a watch of their metadata: an object is read when what it says may have changed, so the many status
 * writes of a busy pool cost this node some bytes and no read.
 */
export class PoolSpecs implements AsyncDisposable {
  readonly #shown = new Map<string, Version>();
  readonly #held = new Map<string, Held>();
  /** Pools whose object could not be read for a reason that waiting does not cure. */
  readonly #unread = new Map<string, string>();
  readonly #fetcher: PoolFetcher;
  readonly #reflector: Reflector;
  readonly #onChange: () => void;
  #isListed = false;

  constructor(client: KubeClient, log: Logger, onChange: () => void) {
    this.#onChange = onChange;
    this.#fetcher = new PoolFetcher(client, log, {
      onObject: (object) => this.#accept(object),
      onMissing: (name) => this.#acceptMissing(name),
      onFailure: (name, failure) => this.#acceptFailure(name, failure),
    });
    this.#reflector = new Reflector(client, {
      resource: POOLS,
      form: 'metadata',
      onEvent: (event) => this.#take(event),
      onTrouble: logTrouble(log, 'pools'),
      onRestored: () => this.#startAnew(),
    });
  }

  /** Every pool of the first list was looked at. */
  get isComplete(): boolean {
    return this.#isListed && [...this.#shown.keys()].every((name) => this.#held.has(name) || this.#unread.has(name));
  }

  get pools(): readonly DatedPool[] {
    return [...this.#held.values()].flatMap(({ pool, createdAt }) => (pool === null ? [] : [{ pool, createdAt }]));
  }

  get problems(): readonly string[] {
    return [...[...this.#held.values()].flatMap(({ problem }) => problem ?? []), ...this.#unread.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reflector[Symbol.asyncDispose]();
    await this.#fetcher[Symbol.asyncDispose]();
  }

  #take(event: WatchEvent): void {
    if (event.type === 'Deleted') this.#forget(event.identity.name, event.identity.uid);
    else if (event.type === 'Synced') this.#takeList();
    else this.#show(event.object.metadata);
  }

  /** The store was restored: every pool is read again, although its version may be older than the one held. */
  #startAnew(): void {
    for (const [name, held] of this.#held) this.#held.set(name, { ...held, resourceVersion: '0', stamp: '' });
  }

  #show(metadata: ObjectMeta): void {
    const { name } = metadata;
    const version = versionOf(metadata);
    const held = this.#held.get(name);
    this.#shown.set(name, version);
    // The GET already returned a newer version; ignore this event.
    const isPast = held !== undefined && isOlder(version.resourceVersion, held.resourceVersion);
    if (!isPast && held?.stamp !== version.stamp) this.#fetcher.want(name);
  }

  #takeList(): void {
    this.#isListed = true;
    for (const [name, { uid }] of this.#held) if (!this.#shown.has(name)) this.#forget(name, uid);
    this.#onChange();
  }

  #forget(name: string, uid: string): void {
    this.#shown.delete(name);
    this.#unread.delete(name);
    this.#fetcher.unwant(name);
    if (this.#held.get(name)?.uid !== uid) return; // a read has seen the next of this name
    this.#held.delete(name);
    this.#onChange();
  }

  #accept(object: KubeObject): void {
    const { name } = object.metadata;
    const shown = this.#shown.get(name);
    if (shown === undefined) return;
    const version = versionOf(object.metadata);
    // The watch already showed a newer version; read it again.
    if (isOlder(version.resourceVersion, shown.resourceVersion) && version.stamp !== shown.stamp) {
      this.#fetcher.want(name);
      return;
    }
    this.#unread.delete(name);
    const createdAt = object.metadata.creationTimestamp ?? '';
    this.#held.set(name, { ...version, createdAt, ...decode(object) });
    this.#onChange();
  }

  /** Gone; the watch will say so too. */
  #acceptMissing(name: string): void {
    const shown = this.#shown.get(name);
    if (shown === undefined) return;
    this.#held.set(name, { ...shown, createdAt: '', pool: null, problem: null });
    this.#onChange();
  }

  #acceptFailure(name: string, { because, message }: Failure): void {
    if (FAILURES[because].retry || !this.#shown.has(name)) return;
    const still = this.#held.get(name)?.pool ? 'the version before stays in use' : 'it is not used';
    this.#unread.set(name, `SpiderIPPool ${name}: cannot be read: ${message}; ${still}`);
    this.#onChange();
  }
}

function versionOf(metadata: ObjectMeta): Version {
  return { uid: metadata.uid, resourceVersion: metadata.resourceVersion, stamp: stampOf(metadata) };
}

function decode(object: KubeObject): Pick<Held, 'pool' | 'problem'> {
  try {
    return { pool: decodePool({ ...object, apiVersion: apiVersionOf(POOLS), kind: POOLS.kind }), problem: null };
  } catch (thrown) {
    const why = toIpamError(thrown).message;
    return {
      pool: null,
      problem: `SpiderIPPool ${object.metadata.name}: ${why}; it is not used until it is corrected`,
    };
  }
}
