import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { AbandonedCreates } from '#controller/give/abandoned-creates.ts';
import { FreshObjects } from '#controller/give/fresh-objects.ts';
import { FreshRecords } from '#controller/give/fresh-records.ts';
import { PoolSpaces } from '#controller/give/pool-spaces.ts';
import { RestoreHold } from '#controller/give/restore-hold.ts';
import { serveWhileThere, type Visit } from '#controller/give/serve-while-there.ts';
import { ShownAddresses } from '#controller/give/shown-addresses.ts';
import { Unserved } from '#controller/give/unserved.ts';
import { isServed } from '#controller/give/why-not-served.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { FreshReads } from '#controller/reconcile/fresh-reads.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import { readIpAddress } from '#pkg/capi/read-ip-address.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { NAMESPACES } from '#pkg/kube/objects/core-resources.ts';
import { isMap, type KubeObject, withoutManagedFields } from '#pkg/kube/objects/kube-object.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ClaimBook } from './claim-book.ts';
import type { ClaimScope } from './claim-scope.ts';
import { keepAddressRecords } from './keep-address-records.ts';
import { markMovingPools } from './mark-moving-pools.ts';
import { PoolEdits } from './pool-edits.ts';
import { reconcileClaims } from './reconcile-claims.ts';

export interface ServeClaimsOptions extends ReconcilerContext {
  readonly pools: ObjectView;
  readonly subnets: ObjectView;
  readonly reserved: ObjectView;
  readonly records: RecordsView;
  readonly catalog: PoolReadings;
  readonly ledger: Pick<Ledger, 'create' | 'amend' | 'release' | 'get'>;
  readonly events: Events;
  /** For how long records may still be missing, because the store may have been restored and agents write them back. */
  readonly recordsMissingForMs: () => number;
  readonly lookEveryMs?: number;
  /** All claims by default. */
  readonly claimScope?: ClaimScope;
}

const KINDS = [CLAIMS, IP_ADDRESSES, CLUSTERS];
const TOO_OLD =
  'Cluster API is here without version v1beta2 (v1.11 and later have it): its IPAddressClaims are not served until it is upgraded';
/** How long the read of a cluster may be shared. */
const CLUSTER_READ_MS = 5_000;

/** Waits, without watches, until Cluster API is here, and serves its claims while it is. */
export function serveClaims(options: ServeClaimsOptions): AsyncDisposable {
  const { client, log, lookEveryMs } = options;
  const guest = {
    client,
    log,
    name: 'Cluster API',
    role: 'deploy/rbac-cluster-api.yaml',
    kinds: async () => KINDS,
    whyNotHere: async () => ((await isTooOld(client)) ? TOO_OLD : null),
    lookEveryMs,
  };
  return serveWhileThere(guest, (visit) => startClaims(options, visit));
}

async function isTooOld(client: KubeClient): Promise<boolean> {
  return (await isServed(client, { ...CLUSTERS, version: 'v1beta1' })) && !(await isServed(client, CLUSTERS));
}

export function startClaims(options: ServeClaimsOptions, { stack, watch }: Visit): void {
  const { client, pools, subnets, reserved, records: recordsView } = options;
  const nowMs = () => client.timing.nowMs();
  const restore = new RestoreHold(nowMs, options.recordsMissingForMs);
  stack.use(recordsView.onRestored(() => restore.begin()));
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
  const shown = new ShownAddresses(addressesView, readShown);
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
    unserved: new Unserved(),
    edits: stack.use(new PoolEdits(pools)),
    abandoned: new AbandonedCreates(nowMs),
    clusterReads: new FreshReads(nowMs, CLUSTER_READ_MS),
    restore,
  };
  stack.use(keepAddressRecords(sources));
  stack.use(reconcileClaims(sources));
  stack.use(markMovingPools(sources));
}

function readShown(object: KubeObject) {
  const found = readIpAddress(object);
  return found?.pool == null || found.address === null ? null : { pool: found.pool, value: found.address.value };
}

/** A cluster may be large, and only its pause is of interest. */
function trimCluster(object: KubeObject): KubeObject {
  const { metadata, spec } = withoutManagedFields(object);
  return { metadata, spec: { paused: isMap(spec) ? spec['paused'] : undefined } };
}
