import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import { type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { sharedAddresses } from '#pkg/crd/pool-overlap.ts';
import { cidrsOverlap } from '#pkg/ip/cidr.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { NetworkPools } from './network-pools.ts';
import type { OverlapNotes } from './overlap-notes.ts';

export interface ReportOverlapsOptions extends ReconcilerContext {
  readonly events: Events;
  readonly networks: NetworkPools;
  readonly networksView: ObjectView;
  readonly pools: ObjectView;
  readonly catalog: PoolReadings;
  readonly notes: OverlapNotes;
}

const DEBOUNCE_MS = 1_000;
/** One pass over all: an edit of one pool may concern the other one too. */
const ALL = '*';
const MOST_NOTES = 5;

/**
 * Finds out, and says in the log and by an Event, once, which NetworkNamespaces share addresses with a pool of pods or with each other. It is safe:
 * the ledger gives each address once. But a pool that looks half free may be full.
 */
export function reportOverlaps(options: ReportOverlapsOptions): AsyncDisposable {
  const { log, events, networks, networksView, pools, catalog, notes } = options;
  /** Each pool is compared with each other one only after an edit: the status of a busy pool changes every second. */
  let known: readonly Pool[] = [];

  return startReconciler(options, {
    kind: 'overlaps',
    failed: 'overlaps of NetworkNamespaces not reported',
    debounceMs: DEBOUNCE_MS,
    caches: [networksView, pools],
    watch: (enqueue) => {
      enqueue(ALL);
      return [networks.onEdit(() => enqueue(ALL)), pools.onChange(() => enqueue(ALL))];
    },
    reconcile: async () => {
      const ofPods = catalog.names().flatMap((name) => catalog.find(name)?.facts.pool ?? []);
      const all = [...networks.all()];
      const own = all.flatMap(({ network: { network } }) => network?.pool ?? []);
      const everything = [...ofPods, ...own];
      if (isSame(known, everything)) return undefined;
      known = everything;
      const described = new Map(own.map((pool) => [pool.name, describe(pool, everything)]));
      for (const key of notes.keys()) if (!described.has(key)) notes.set(key, '');
      for (const { object } of all) {
        const { metadata } = object;
        const key = keyOf(metadata);
        const note = described.get(key) ?? '';
        if (!notes.set(key, note) || note === '') continue;
        log.warn({ networkNamespace: key, overlap: note }, 'a NetworkNamespace shares addresses with another pool');
        const { namespace = '', name, uid } = metadata;
        const regarding = {
          apiVersion: apiVersionOf(NETWORK_NAMESPACES),
          kind: NETWORK_NAMESPACES.kind,
          namespace,
          name,
          uid,
        };
        events.emit({ regarding, type: 'Warning', reason: 'Overlap', note });
      }
      return undefined;
    },
  });
}

function isSame(before: readonly Pool[], now: readonly Pool[]): boolean {
  return before.length === now.length && before.every((pool, at) => pool === now[at] || holdsTheSame(pool, now[at]));
}

function holdsTheSame(before: Pool, now: Pool | undefined): boolean {
  if (now === undefined || before.name !== now.name || before.domain !== now.domain) return false;
  return before.addresses.equals(now.addresses);
}

function describe(pool: Pool, others: readonly Pool[]): string {
  const found = others
    .filter((other) => other.name !== pool.name && other.domain === pool.domain && other.family === pool.family)
    .filter((other) => cidrsOverlap(pool.subnet, other.subnet))
    .flatMap((other) => sharedAddresses(pool, other) ?? []);
  if (found.length === 0) return '';
  return `${found.slice(0, MOST_NOTES).join('; ')}. Each address is given out only once`;
}
