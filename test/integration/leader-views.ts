import { pino } from 'pino';
import { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import { type ObjectView, watchObjects } from '#controller/cluster-view/object-view.ts';
import { type EndpointsView, watchEndpoints } from '#controller/project/endpoints-view.ts';
import { type PodsView, podsOf } from '#controller/project/pods-view.ts';
import { PoolReadings } from '#controller/project/pool-catalog.ts';
import { type RecordsView, recordsOf } from '#controller/project/records-view.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, RESERVED_IPS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';

export interface LeaderViews extends AsyncDisposable {
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly subnets: ObjectView;
  readonly reserved: ObjectView;
  readonly endpoints: EndpointsView;
  readonly pods: PodsView;
  readonly catalog: PoolReadings;
  readonly recordsMissingForMs: () => number;
  readonly adoptPools: boolean;
}

export const silent = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

/** The watches of a leader, with the controller's rights. */
export function watchAsLeader(client: KubeClient): LeaderViews {
  const stack = new AsyncDisposableStack();
  const onTrouble = (trouble: unknown) => silent.warn(trouble, 'trouble');
  const watch = (resource: Resource) => stack.use(watchObjects(client, { resource, onTrouble }));
  const view = stack.use(
    new ClusterView({
      client,
      log: silent,
      nowMs: () => performance.now(),
      leaseFreshMs: 25_000,
      agentNamespace: 'ipledger',
    }),
  );
  const pools = watch(POOLS);
  const reserved = watch(RESERVED_IPS);
  const endpoints = stack.use(watchEndpoints(client, onTrouble));
  const views = { pools, reserved, subnets: watch(SUBNETS), endpoints };
  return {
    ...views,
    records: recordsOf(view),
    pods: podsOf(view),
    catalog: new PoolReadings(pools, reserved, views.subnets),
    recordsMissingForMs: () => 0,
    adoptPools: true,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
