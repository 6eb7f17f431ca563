import { AllocationsByName } from '#controller/allocations/allocation-book.ts';
import { EvenClock } from '#controller/allocations/even-clock.ts';
import { GoneConfigurations } from '#controller/allocations/gone-configurations.ts';
import { HeldAddresses } from '#controller/allocations/held-addresses.ts';
import { NetworkPools } from '#controller/allocations/network-pools.ts';
import { OverlapNotes } from '#controller/allocations/overlap-notes.ts';
import { reconcileAllocations } from '#controller/allocations/reconcile-allocations.ts';
import { reportOverlaps } from '#controller/allocations/report-overlaps.ts';
import { UsedDomains } from '#controller/allocations/used-domains.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { AbandonedCreates } from '#controller/give/abandoned-creates.ts';
import { FreshObjects } from '#controller/give/fresh-objects.ts';
import { FreshRecords } from '#controller/give/fresh-records.ts';
import { PoolSpaces } from '#controller/give/pool-spaces.ts';
import { RestoreHold } from '#controller/give/restore-hold.ts';
import { serveWhileThere, type Visit } from '#controller/give/serve-while-there.ts';
import { ShownAddresses } from '#controller/give/shown-addresses.ts';
import { Unserved } from '#controller/give/unserved.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { serveProvider } from '#controller/provider/serve-provider.ts';
import type { ProviderSettings } from '#controller/provider-plan/judge-configuration.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  OLD_NETWORK_NAMESPACES,
} from '#pkg/kube/objects/vitistack-resources.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { RangeRules } from '#pkg/vitistack/read-network-namespace.ts';

export interface ServeVitistackOptions extends ReconcilerContext {
  readonly pools: ObjectView;
  readonly reserved: ObjectView;
  readonly records: RecordsView;
  readonly catalog: PoolReadings;
  readonly ledger: Pick<Ledger, 'create' | 'amend' | 'release' | 'get'>;
  readonly events: Events;
  readonly rangeRules: RangeRules;
  /** How long records may still be missing, because the store may have been restored and agents write them back. */
  readonly recordsMissingForMs: () => number;
  readonly lookEveryMs?: number;
  readonly providerSettings: ProviderSettings;
  /** Whether the addresses of static-ip-operator have their records, so that it is known what is free. */
  readonly isAdopted: () => Promise<boolean>;
}

const ROLE = 'deploy/rbac-vitistack.yaml';

/** Waits, without watches, until the kinds of Vitistack are here, and serves IPAllocations while they are. */
export function serveVitistack(options: ServeVitistackOptions): AsyncDisposable {
  const { client, log, lookEveryMs, isAdopted: mayBegin } = options;
  const guest = { client, log, name: 'Vitistack', role: ROLE, lookEveryMs, mayBegin };
  return serveWhileThere({ ...guest, kinds: () => findKinds(client) }, (visit, [, networks]) =>
    startVitistack(options, visit, networks ?? NETWORK_NAMESPACES),
  );
}

/** Null: there are no IPAllocations here. NetworkNamespaces are read in the newer version where that is served. */
async function findKinds(client: KubeClient): Promise<readonly Resource[] | null> {
  const found = await client.kindsOf(IP_ALLOCATIONS);
  if (!found.ok) return null;
  const isServed = ({ plural }: Resource) => found.object.some(({ resource }) => resource.plural === plural);
  if (!isServed(IP_ALLOCATIONS)) return null;
  const networks = isServed(NETWORK_NAMESPACES) ? NETWORK_NAMESPACES : OLD_NETWORK_NAMESPACES;
  return [IP_ALLOCATIONS, networks, NETWORK_CONFIGURATIONS];
}

function startVitistack(options: ServeVitistackOptions, { stack, watch }: Visit, networksResource: Resource): void {
  const { client, catalog, pools, reserved, records: recordsView, rangeRules, now } = options;
  const nowMs = () => client.timing.nowMs();
  const restore = new RestoreHold(nowMs, options.recordsMissingForMs);
  stack.use(recordsView.onRestored(() => restore.begin()));
  const views = {
    allocations: watch(IP_ALLOCATIONS),
    networks: watch(networksResource),
    configurations: watch(NETWORK_CONFIGURATIONS),
    reserved,
  };
  const shown = new ShownAddresses(views.allocations, readShown);
  const networks = stack.use(new NetworkPools(views.networks, catalog, rangeRules, nowMs));
  const fresh = stack.use(new FreshObjects(views.configurations, nowMs));
  const records = stack.use(new FreshRecords(recordsView, nowMs));
  const sources = {
    ...options,
    views,
    recordsView,
    networks,
    shown,
    allocations: stack.use(new FreshObjects(views.allocations, nowMs)),
    configurations: new GoneConfigurations(client, fresh),
    records,
    book: new AllocationsByName(views.allocations),
    spaces: new PoolSpaces(recordsView, shown),
    unserved: new Unserved(),
    held: new HeldAddresses(),
    clock: new EvenClock(now, nowMs),
    refused: new Set<string>(),
    abandoned: new AbandonedCreates(nowMs),
    restore,
    domains: new UsedDomains(records),
  };
  stack.use(reconcileAllocations(sources));
  const overlaps = new OverlapNotes();
  stack.use(reportOverlaps({ ...options, networks, networksView: views.networks, pools, notes: overlaps }));
  const provider = {
    configurationsView: views.configurations,
    allocationsView: views.allocations,
    networksView: views.networks,
    networkResource: networksResource,
    settings: options.providerSettings,
    overlaps,
    role: ROLE,
  };
  stack.use(serveProvider({ ...options, ...provider, networks }));
}

function readShown(object: KubeObject) {
  const found = readIpAllocation(object);
  if (found?.shownAddress?.family !== 4) return null;
  return { pool: keyOf({ namespace: found.namespace, name: found.networkNamespace }), value: found.shownAddress.value };
}
