import { NODE_LEASES, toNodeFacts } from '#controller/cluster-view/node-facts.ts';
import type { NodeSighting } from '#controller/cluster-view/node-table.ts';
import { type PodFacts, toPodFacts } from '#controller/cluster-view/pod-facts.ts';
import { vmiOf } from '#controller/cluster-view/pod-table.ts';
import { SharedValues } from '#controller/cluster-view/shared-values.ts';
import { sightAgain } from '#controller/cluster-view/sight-again.ts';
import type { OwnerEvidence } from '#controller/judge/evidence.ts';
import type { OwnerToRead } from '#controller/judge/verdict.ts';
import { FreshReads } from '#controller/reconcile/fresh-reads.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { LEASES, readLeaseSpec } from '#pkg/kube/leader/lease.ts';
import { NODES, PODS } from '#pkg/kube/objects/core-resources.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type ReadLive, statefulSetValidity, vmiValidity } from './owner-validity.ts';

interface Listing {
  readonly startedMs: number;
  readonly names: ReadonlySet<string>;
}

const SHARED_FOR_MS = 5_000;
const LISTING_FOR_MS = 120_000;
/** As long as a sweep takes to read what is in doubt: a VMI that stopped meanwhile has a record that changed later. */
const LAUNCHERS_FOR_MS = 60_000;
/** After so many reads of single pods one list of all is cheaper. */
const LIST_AFTER = 50;

/** What the API server says now, never a cache. `seenMs` is when the record in question was seen: reads come after it. */
export class LiveReads {
  readonly #client: KubeClient;
  readonly #leaseFreshMs: number;
  readonly #nowMs: () => number;
  readonly #signal: AbortSignal;
  readonly #fresh: FreshReads;
  /** By namespace. */
  readonly #launchers: FreshReads;
  readonly #shared = new SharedValues();
  #listing: Listing | null = null;
  #listFailedMs = Number.NEGATIVE_INFINITY;
  #readsSinceListing = 0;

  constructor(client: KubeClient, leaseFreshMs: number, nowMs: () => number, signal: AbortSignal) {
    this.#client = client;
    this.#leaseFreshMs = leaseFreshMs;
    this.#nowMs = nowMs;
    this.#signal = signal;
    this.#fresh = new FreshReads(nowMs, SHARED_FOR_MS);
    this.#launchers = new FreshReads(nowMs, LAUNCHERS_FOR_MS);
  }

  async pod(namespace: string, name: string, seenMs: number): Promise<PodFacts | null> {
    const key = `${namespace}/${name}`;
    if (this.#isListedAsGone(key, seenMs)) return null;
    this.#readsSinceListing += 1;
    if (this.#readsSinceListing > LIST_AFTER && this.#mayListAgain()) {
      await this.#fresh.read('all pods', seenMs, () => this.#listPods());
      if (this.#isListedAsGone(key, seenMs)) return null;
    }
    const found = await this.#read(PODS, { namespace, name });
    if (found.ok) return toPodFacts(found.object, this.#shared);
    if (found.because === 'NotFound') return null;
    throw unread(`pod ${namespace}/${name}`, found);
  }

  async launchers(namespace: string, vmi: string, seenMs: number): Promise<readonly PodFacts[]> {
    const ofNamespace = await this.#launchers.read(namespace, seenMs, () => this.#listLaunchers(namespace));
    return ofNamespace.get(vmi) ?? [];
  }

  /** `known`: what the watches have. */
  node(name: string, known: NodeSighting, seenMs: number): Promise<NodeSighting> {
    if (name === '') return Promise.resolve(known);
    return this.#fresh.read(`node/${name}`, seenMs, async () => {
      const [node, lease] = await Promise.all([
        this.#read(NODES, { name }),
        this.#read(LEASES, { namespace: NODE_LEASES, name }),
      ]);
      if (!node.ok && node.because !== 'NotFound') throw unread(`node ${name}`, node);
      if (!lease.ok && lease.because !== 'NotFound') throw unread(`the lease of node ${name}`, lease);
      const { renewTime = null } = lease.ok ? readLeaseSpec(lease.object) : {};
      const reading = { node: node.ok ? toNodeFacts(node.object) : null, renewTime };
      return sightAgain(known, reading, this.#nowMs(), this.#leaseFreshMs);
    });
  }

  owner(what: OwnerToRead, record: IpRecord, seenMs: number): Promise<OwnerEvidence> {
    const { namespace, name } = record.spec.holder;
    return what === 'vmi'
      ? this.#fresh.read(`vmi/${namespace}/${name}`, seenMs, () => vmiValidity(record, this.#read))
      : statefulSetValidity(record, (resource, at) =>
          this.#fresh.read(`${resource.plural}/${at.namespace}/${at.name}`, seenMs, () => this.#read(resource, at)),
        );
  }

  readonly #read: ReadLive = (resource, at) => this.#client.get(resource, at, { signal: this.#signal });

  /**
   * One consistent list of all pods, by name only: what is not in it needs no read of its own. The list only saves
   * requests: where it fails, as in a cluster with more pods than fit into an answer, pods are read one by one.
   */
  async #listPods(): Promise<void> {
    const startedMs = this.#nowMs();
    let names = new Set<string>();
    const options = { form: 'metadata', signal: this.#signal } as const;
    const listed = await this.#client.listPages(PODS, {}, options, {
      begin: () => {
        names = new Set();
      },
      take: ({ items }) => {
        for (const { metadata } of items) names.add(keyOf(metadata));
      },
    });
    if (!listed.ok) {
      this.#listFailedMs = this.#nowMs();
      return;
    }
    this.#listing = { startedMs, names };
    this.#readsSinceListing = 0;
  }

  /** By VMI. One list serves all machines of the namespace: a tenant could leave out a label. */
  async #listLaunchers(namespace: string): Promise<ReadonlyMap<string, readonly PodFacts[]>> {
    let byVmi = new Map<string, PodFacts[]>();
    const listed = await this.#client.listPages(
      PODS,
      { namespace },
      { signal: this.#signal },
      {
        begin: () => {
          byVmi = new Map();
        },
        take: ({ items }) => {
          for (const item of items) {
            const pod = toPodFacts(item, this.#shared);
            const vmi = vmiOf(pod);
            if (vmi !== null) byVmi.set(vmi, [...(byVmi.get(vmi) ?? []), pod]);
          }
        },
      },
    );
    if (!listed.ok) throw unread(`the pods of ${namespace}`, listed);
    return byVmi;
  }

  /** Pods that are there are in every list, and need a read of their own after it. */
  #mayListAgain(): boolean {
    const triedMs = Math.max(this.#listing?.startedMs ?? Number.NEGATIVE_INFINITY, this.#listFailedMs);
    return this.#nowMs() - triedMs > LISTING_FOR_MS / 4;
  }

  #isListedAsGone(key: string, seenMs: number): boolean {
    const listing = this.#listing;
    if (listing === null || listing.startedMs < seenMs || listing.names.has(key)) return false;
    return this.#nowMs() - listing.startedMs < LISTING_FOR_MS;
  }
}

function unread(what: string, { message }: Outcome<unknown> & { ok: false }): IpamError {
  return new IpamError('io-failure', `cannot read ${what}: ${message}`);
}
