import type { ClaimScope } from '#controller/claims/claim-scope.ts';
import { serveClaims } from '#controller/claims/serve-claims.ts';
import { type ObjectView, watchObjects } from '#controller/cluster-view/object-view.ts';
import { keepPools } from '#controller/lifecycle/keep-pools.ts';
import { keepSubnets } from '#controller/lifecycle/keep-subnets.ts';
import { watchEndpoints } from '#controller/project/endpoints-view.ts';
import type { EndpointRules } from '#controller/project/plan-endpoint.ts';
import type { PodsView } from '#controller/project/pods-view.ts';
import { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { Sample } from '#controller/project/pool-gauges.ts';
import { projectEndpoints } from '#controller/project/project-endpoints.ts';
import { projectPools } from '#controller/project/project-pools.ts';
import { projectSubnets } from '#controller/project/project-subnets.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { sampleGauges } from '#controller/project/sample-gauges.ts';
import { ShortageBoard } from '#controller/project/shortage-board.ts';
import type { ReconcilerContext } from '#controller/reconcile/reconciler.ts';
import { type KeepAutoPoolsOptions, keepAutoPools } from '#controller/subnets/keep-auto-pools.ts';
import { type ServeVitistackOptions, serveVitistack } from '#controller/vitistack/serve-vitistack.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { ENDPOINTS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import type { Trouble } from '#pkg/kube/watch/reflector.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';

export interface NetworkReconcilersOptions extends ReconcilerContext {
  readonly ledger: Pick<Ledger, 'takenOf' | 'create' | 'amend' | 'release' | 'get'>;
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly pods: PodsView;
  readonly nodeCount: () => number;
  readonly rules: EndpointRules;
  readonly events: Events;
  readonly recordsMissingForMs: () => number;
  readonly adoptPools: boolean;
  readonly claimScope?: ClaimScope;
  readonly vitistack: Pick<ServeVitistackOptions, 'rangeRules' | 'providerSettings' | 'isAdopted'>;
  /** Null: no pools are made from subnets. */
  readonly autoPools: Pick<KeepAutoPoolsOptions, 'workloads' | 'wishRules' | 'readAgainMs'> | null;
}

export interface NetworkReconcilers extends AsyncDisposable {
  /** Computed at each scrape. */
  gauges(): Promise<Sample[]>;
}

/**
 * Starts every reconciler of pools, subnets, endpoints and claims for one term. The caches of records, pools and pods are shared
 * with the collector, so they are passed in.
 */
export function startNetworkReconcilers(options: NetworkReconcilersOptions): NetworkReconcilers {
  const { client, log, records, pools, autoPools } = options;
  const stack = new AsyncDisposableStack();
  const onTrouble =
    ({ plural }: Resource) =>
    (trouble: Trouble) =>
      log.warn({ resource: plural, ...trouble }, 'watch interrupted');
  const watch = (resource: Resource): ObjectView =>
    stack.use(watchObjects(client, { resource, onTrouble: onTrouble(resource) }));
  const [subnets, reserved] = [watch(SUBNETS), watch(RESERVED_IPS)];
  const endpoints = stack.use(watchEndpoints(client, onTrouble(ENDPOINTS)));
  const catalog = stack.use(new PoolReadings(pools, reserved, subnets));
  const shortages = autoPools === null ? null : new ShortageBoard();
  const all = { ...options, subnets, reserved, endpoints, catalog, shortages };
  stack.use(keepPools(all));
  stack.use(keepSubnets(all));
  stack.use(projectPools(all));
  stack.use(projectSubnets(all));
  stack.use(projectEndpoints(all));
  stack.use(serveClaims(all));
  stack.use(serveVitistack({ ...all, ...options.vitistack }));
  if (autoPools !== null && shortages !== null) stack.use(keepAutoPools({ ...all, ...autoPools, shortages }));
  return {
    gauges: () => sampleGauges({ catalog, records, subnets }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
