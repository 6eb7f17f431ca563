import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { keysByAge } from '#controller/give/age-order.ts';
import type { ShownAddresses } from '#controller/give/shown-addresses.ts';
import { wakeLine } from '#controller/give/waiting-line.ts';
import type { RecordChange, RecordsView } from '#controller/project/records-view.ts';
import type { Enqueue } from '#controller/reconcile/reconciler.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { type ClaimSources, readClaimAt } from './claim-observer.ts';
import type { PoolEdits } from './pool-edits.ts';

export interface WatchClaimsOptions extends ClaimSources {
  readonly views: Record<'claims' | 'addresses' | 'clusters' | 'namespaces' | 'pools' | 'reserved', ObjectView>;
  readonly recordsView: RecordsView;
  readonly edits: PoolEdits;
  readonly shown: ShownAddresses;
}

export function lineOf({ unserved, spaces, catalog }: Pick<WatchClaimsOptions, 'unserved' | 'spaces' | 'catalog'>) {
  return { unserved, spaces, factsOf: (pool: string) => catalog.find(pool)?.facts ?? null };
}

/** What is enqueued: every claim at first, and later those that a change concerns, the oldest first. */
export function watchClaims(options: WatchClaimsOptions, enqueue: Enqueue): readonly Disposable[] {
  const { views, recordsView, book, spaces, unserved, edits, shown } = options;
  // A younger claim may be looked at first, for another event. All that may want an address are in line by then.
  const lineUp = (key: string) => {
    const claim = readClaimAt(options, key);
    if (claim !== null && mayWait(claim, options)) unserved.add(claim, true);
  };
  const wakePool = (pool: string) => {
    spaces.forget(pool);
    book.ofPool(pool).forEach(lineUp);
    book.ofPool(pool).forEach(enqueue);
    // Another pool may have overlapped this one.
    unserved.keysOf(() => true).forEach(enqueue);
  };
  const wakeHeld = (pool: string | null) => {
    if (pool !== null) wakeLine(pool, lineOf(options), enqueue);
  };
  const reweigh = (keys: readonly string[]) => {
    for (const key of keys) {
      wakeHeld(book.weigh(key));
      enqueue(key);
    }
  };
  for (const { metadata } of views.addresses.all()) shown.update(metadata);
  for (const { metadata } of views.claims.all()) book.update(metadata);
  keysByAge(views.claims.all()).forEach(enqueue);
  for (const { spec } of recordsView.all()) if (spec.holder.kind === 'IPAddressClaim') enqueue(keyOf(spec.holder));
  return [
    views.claims.onChange((at) => {
      wakeHeld(book.update(at));
      enqueue(keyOf(at));
    }),
    views.addresses.onChange((at) => {
      const freed = shown.update(at);
      if (freed !== null && spaces.reveal(freed.pool, freed.value)) wakeLine(freed.pool, lineOf(options), enqueue);
      reweigh([keyOf(at)]);
    }),
    views.clusters.onChange((at) => {
      const keys = book.ofCluster(at);
      keys.filter((key) => !unserved.has(key)).forEach(lineUp);
      reweigh(keys);
    }),
    views.namespaces.onChange(({ name }) => unserved.keysOf((it) => it.namespace === name).forEach(enqueue)),
    views.reserved.onChange(() => {
      spaces.forgetAll();
      unserved.keysOf(() => true).forEach(enqueue);
    }),
    edits.onEdit(wakePool),
    recordsView.onChange((change) => followRecord(change, options, enqueue)),
  ];
}

function mayWait(claim: Claim, { addresses, book }: WatchClaimsOptions): boolean {
  const cluster = book.clusterState(claim);
  return !claim.isDeleting && addresses.get(claim) === null && (cluster === 'running' || cluster === 'unnamed');
}

function followRecord({ before, after }: RecordChange, options: WatchClaimsOptions, enqueue: Enqueue): void {
  for (const pool of options.spaces.follow(before, after)) wakeLine(pool, lineOf(options), enqueue);
  const { holder } = (after ?? before)?.spec ?? {};
  if (holder?.kind === 'IPAddressClaim') enqueue(keyOf(holder));
}
