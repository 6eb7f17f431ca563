import type { Logger } from 'pino';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { LEASES, readLeaseSpec } from '#pkg/kube/leader/lease.ts';
import { NODES, PODS } from '#pkg/kube/objects/core-resources.ts';
import { type KubeObject, type Resource, withoutManagedFields } from '#pkg/kube/objects/kube-object.ts';
import { isBreak } from '#pkg/kube/objects/outcome.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { WatchEvent } from '#pkg/kube/watch/known-objects.ts';
import { Reflector, type ReflectorOptions } from '#pkg/kube/watch/reflector.ts';
import { IP_RECORDS, isTerminating, toRecord } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { AgentTable } from './agent-table.ts';
import { Listeners } from './listeners.ts';
import { NODE_LEASES, toNodeFacts, trimNode } from './node-facts.ts';
import { NodeTable } from './node-table.ts';
import { type ObjectView, watchObjects } from './object-view.ts';
import { toPodFacts, trimPod } from './pod-facts.ts';
import { PodTable } from './pod-table.ts';
import { RecordTable } from './record-table.ts';
import { SharedValues } from './shared-values.ts';
import { Subscribers, type ViewChange } from './view-change.ts';

export const RESTORED = 'the store of the API server was restored from a backup';

export interface ClusterViewDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  /** The monotonic clock of this process. */
  readonly nowMs: () => number;
  /** How old the last renewal of a node's lease may be for the node to count as healthy. */
  readonly leaseFreshMs: number;
  /** The namespace of the agents' DaemonSet. Pods of other namespaces with its labels are strangers. */
  readonly agentNamespace: string;
}

/**
 * The caches that the tasks of one term share: all records and pools, and the few facts about pods and nodes that they need. The
 * caches may lag behind, so no write is based on them alone.
 */
export class ClusterView implements AsyncDisposable {
  readonly records = new RecordTable();
  /** Called when the watch of records finds that etcd was restored from a backup. */
  readonly restored = new Listeners<null>();
  readonly pods = new PodTable();
  readonly nodes: NodeTable;
  readonly agents: AgentTable;
  readonly pools: ObjectView;
  /** Resolves once every kind has been listed; rejects if the view is closed before. */
  readonly synced: Promise<void>;
  readonly #deps: ClusterViewDeps;
  readonly #shared = new SharedValues();
  readonly #subscribers: Subscribers;
  readonly #reflectors: readonly Reflector[];
  #isSynced = false;
  #steadySinceMs: number;

  constructor(deps: ClusterViewDeps) {
    this.#deps = deps;
    this.#subscribers = new Subscribers(deps.log);
    this.#steadySinceMs = deps.nowMs();
    this.nodes = new NodeTable(deps.leaseFreshMs);
    this.nodes.startLooking(deps.nowMs());
    this.agents = new AgentTable(deps.agentNamespace);
    this.agents.startLooking(deps.nowMs());
    this.#reflectors = [
      this.#reflect({
        resource: IP_RECORDS,
        trim: withoutManagedFields,
        onEvent: (event) => this.#onRecord(event),
      }),
      this.#reflect({ resource: PODS, trim: trimPod, onEvent: (event) => this.#onPod(event) }),
      this.#reflect({ resource: NODES, trim: trimNode, onEvent: (event) => this.#onNode(event) }),
      this.#reflect({ resource: LEASES, query: { namespace: NODE_LEASES }, onEvent: (event) => this.#onLease(event) }),
    ];
    this.pools = watchObjects(deps.client, { resource: POOLS, ...this.#handlersOf(POOLS) });
    this.synced = Promise.all([...this.#reflectors, this.pools].map(({ synced }) => synced)).then(() => {
      this.nodes.startLooking(deps.nowMs());
      this.agents.startLooking(deps.nowMs());
      this.#steadySinceMs = deps.nowMs();
      this.#isSynced = true;
    });
    this.synced.catch(() => {}); // callers need not wait for it
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /**
   * Since when the API server has answered without a break, on the monotonic clock. After a break it may be on a store that was
   * restored from a backup. Then pods and records are missing, until agents have written their records back (rule 9).
   */
  get steadySinceMs(): number {
    return this.#steadySinceMs;
  }

  /** The listener is called for every later change, after the tables have it. */
  subscribe(listener: (change: ViewChange) => void): Disposable {
    return this.#subscribers.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#reflectors, this.pools].map((watch) => watch[Symbol.asyncDispose]()));
  }

  #reflect(options: Omit<ReflectorOptions, 'onTrouble' | 'onRestored'>): Reflector {
    return new Reflector(this.#deps.client, { ...options, ...this.#handlersOf(options.resource) });
  }

  #handlersOf({ plural: kind }: Resource): Pick<ReflectorOptions, 'onTrouble' | 'onRestored'> {
    const { log, nowMs } = this.#deps;
    return {
      onTrouble: (trouble) => {
        if (trouble.during === 'event') {
          log.error({ kind, why: toIpamError(trouble.thrown).message }, 'watch event cannot be read');
          return;
        }
        // A refusal (403, 429, an answer that is too large) is no break: it would keep all addresses from being freed.
        if (isBreak(trouble.failure)) this.#steadySinceMs = nowMs();
        log.warn({ kind, why: trouble.failure.message, retryInMs: trouble.retryInMs }, 'watch interrupted');
      },
      onRestored: () => {
        this.#steadySinceMs = nowMs();
        if (kind === IP_RECORDS.plural) this.restored.tell(null);
        log.error({ kind }, `${RESTORED}: the cache of this kind was read anew`);
      },
    };
  }

  #onRecord(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    const name = event.type === 'Deleted' ? event.identity.name : event.object.metadata.name;
    const known = event.type === 'Deleted' ? null : this.#readRecord(event.object);
    const before = known === null ? this.records.remove(name) : this.records.put(known);
    const change = { of: 'record', name, before: before?.record ?? null, now: known?.record ?? null } as const;
    this.#subscribers.tell(change);
  }

  /** Null for a record that is being deleted or cannot be read: nothing may act on it. */
  #readRecord(object: KubeObject) {
    if (isTerminating(object)) return null;
    const { name, labels = {} } = object.metadata;
    try {
      const record = toRecord(object);
      const { spec } = record;
      const { owner } = spec.holder;
      const holder = {
        ...spec.holder,
        namespace: this.#shared.text(spec.holder.namespace),
        node: this.#shared.text(spec.holder.node),
        ...(owner === undefined ? {} : { owner: this.#shared.value(owner) }),
      };
      const lean = { ...record, spec: { ...spec, pool: this.#shared.value(spec.pool), holder } };
      return { record: lean, firstSeenMs: this.#deps.nowMs(), labels };
    } catch (thrown) {
      this.#deps.log.error({ record: name, why: toIpamError(thrown).message }, 'record cannot be read');
      return null;
    }
  }

  #onPod(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    if (event.type === 'Deleted') {
      const { namespace = '', name } = event.identity;
      this.agents.remove(namespace, name, this.#deps.nowMs());
      const before = this.pods.remove(namespace, name);
      if (before !== null) this.#subscribers.tell({ of: 'pod', before, now: null });
      return;
    }
    this.agents.see(event.object, this.#deps.nowMs());
    const now = toPodFacts(event.object, this.#shared);
    this.#subscribers.tell({ of: 'pod', before: this.pods.put(now), now });
  }

  #onNode(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    if (event.type === 'Deleted') {
      this.nodes.remove(event.identity.name, this.#deps.nowMs());
      this.#subscribers.tell({ of: 'node', name: event.identity.name });
      return;
    }
    const { name } = event.object.metadata;
    const now = toNodeFacts(event.object);
    const before = this.nodes.put(name, now, this.#deps.nowMs());
    // The kubelet updates its Node every few seconds; only these two facts matter here.
    const isNews = before?.isReady !== now.isReady || before.isOutOfService !== now.isOutOfService;
    if (isNews) this.#subscribers.tell({ of: 'node', name });
  }

  #onLease(event: WatchEvent): void {
    if (event.type === 'Synced') return;
    if (event.type === 'Deleted') {
      this.nodes.removeLease(event.identity.name);
      return;
    }
    const { renewTime } = readLeaseSpec(event.object);
    if (renewTime !== undefined) this.nodes.seeLease(event.object.metadata.name, renewTime, this.#deps.nowMs());
  }
}
