import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { watchObjects } from '#controller/cluster-view/object-view.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { FreshReads } from '#controller/reconcile/fresh-reads.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { NAMESPACES } from '#pkg/kube/objects/core-resources.ts';
import { isMap, type KubeObject, type Resource, withoutManagedFields } from '#pkg/kube/objects/kube-object.ts';
import { sleep } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ClaimBook } from './claim-book.ts';
import type { ClaimScope } from './claim-scope.ts';
import { FreshObjects } from './fresh-objects.ts';
import { FreshRecords } from './fresh-records.ts';
import { keepAddressRecords } from './keep-address-records.ts';
import { markMovingPools } from './mark-moving-pools.ts';
import { PoolEdits } from './pool-edits.ts';
import { PoolSpaces } from './pool-spaces.ts';
import { reconcileClaims } from './reconcile-claims.ts';
import { RestoreHold } from './restore-hold.ts';
import { ShownAddresses } from './shown-addresses.ts';
import { UnservedClaims } from './unserved-claims.ts';
import { whyNoClusterApi } from './why-no-cluster-api.ts';

export interface ServeClaimsOptions extends ReconcilerContext {
  readonly pools: ObjectView;
  readonly subnets: ObjectView;
  readonly reserved: ObjectView;
  readonly records: RecordsView;
  readonly catalog: PoolReadings;
  readonly ledger: Pick<Ledger, 'create' | 'amend' | 'release'>;
  readonly events: Events;
  /** For how long records may still be missing, because the store may have been restored and agents write them back. */
  readonly recordsMissingForMs: () => number;
  readonly lookEveryMs?: number;
  /** All claims by default. */
  readonly claimScope?: ClaimScope;
}

const LOOK_EVERY_MS = 30_000;
/** How long the read of a cluster may be shared. */
const CLUSTER_READ_MS = 5_000;

/** Waits, without watches, until Cluster API is here, and serves its claims while it is. */
export function serveClaims(options: ServeClaimsOptions): AsyncDisposable {
  const stop = new AbortController();
  const running = serveWhileThere(options, stop.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

async function serveWhileThere(options: ServeClaimsOptions, signal: AbortSignal): Promise<void> {
  const { client, log, lookEveryMs = LOOK_EVERY_MS } = options;
  let isRefused = false;
  while (!signal.aborted) {
    const because = await whyNoClusterApi(client);
    if (because === null) {
      isRefused = false;
      await serveUntilGone(options, signal);
    } else if (because === 'Forbidden' && !isRefused) {
      isRefused = true;
      log.warn('Cluster API is here, and the controller has no rights on it: apply deploy/rbac-cluster-api.yaml');
    }
    await sleep(client.timing, lookEveryMs, signal);
  }
}

async function serveUntilGone(options: ServeClaimsOptions, signal: AbortSignal): Promise<void> {
  const { client, log, pools, subnets, reserved, records: recordsView } = options;
  const gone = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => gone.resolve(), { once: true });
  if (signal.aborted) return;
  await using stack = new AsyncDisposableStack();
  const nowMs = () => client.timing.nowMs();
  const restore = new RestoreHold(nowMs, options.recordsMissingForMs);
  stack.use(recordsView.onRestored(() => restore.begin()));
  const watch = (resource: Resource, trim = withoutManagedFields) =>
    stack.use(
      watchObjects(client, {
        resource,
        trim,
        onTrouble: (trouble) => {
          if (trouble.during !== 'event' && trouble.failure.because === 'NotServed') gone.resolve();
          log.warn({ resource: resource.plural, ...trouble }, 'watch interrupted');
        },
      }),
    );
  log.info('Cluster API is here: serving IPAddressClaims');
  const [claimsView, addressesView, clusters] = [watch(CLAIMS), watch(IP_ADDRESSES), watch(CLUSTERS, trimCluster)];
  const views = {
    claims: claimsView,
    addresses: addressesView,
    clusters,
    namespaces: watch(NAMESPACES),
    pools,
    subnets,
    reserved,
  };
  const shown = new ShownAddresses(addressesView);
  const sources = {
    ...options,
    views,
    namespaces: views.namespaces,
    recordsView,
    claims: stack.use(new FreshObjects(claimsView, nowMs)),
    addresses: stack.use(new FreshObjects(addressesView, nowMs)),
    records: stack.use(new FreshRecords(recordsView, nowMs)),
    book: new ClaimBook(views, nowMs),
    shown,
    spaces: new PoolSpaces(recordsView, shown),
    unserved: new UnservedClaims(),
    edits: stack.use(new PoolEdits(pools)),
    clusterReads: new FreshReads(nowMs, CLUSTER_READ_MS),
    restore,
  };
  stack.use(keepAddressRecords(sources));
  stack.use(reconcileClaims(sources));
  stack.use(markMovingPools(sources));
  await gone.promise;
}

/** A cluster may be large, and only its pause is of interest. */
function trimCluster(object: KubeObject): KubeObject {
  const { metadata, spec } = withoutManagedFields(object);
  return { metadata, spec: { paused: isMap(spec) ? spec['paused'] : undefined } };
}
