import { pino } from 'pino';
import { type ObjectView, watchObjects } from '#controller/project/object-view.ts';
import { PoolCatalog } from '#controller/project/pool-catalog.ts';
import { type RecordsView, watchRecords } from '#controller/project/records-view.ts';
import { ENDPOINTS, POOLS, RESERVED_IPS, SUBNETS } from '#controller/project/spider-resources.ts';
import type { KubeClient } from '#pkg/kube/client.ts';
import type { Resource } from '#pkg/kube/resource.ts';

const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod' };

export interface LeaderViews extends AsyncDisposable {
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly subnets: ObjectView;
  readonly reserved: ObjectView;
  readonly endpoints: ObjectView;
  readonly pods: ObjectView;
  readonly catalog: PoolCatalog;
}

export const silent = pino({ level: process.env['LOG_LEVEL'] ?? 'silent' });

/** What a leader watches, with the controller's own rights. */
export function watchAsLeader(client: KubeClient): LeaderViews {
  const stack = new AsyncDisposableStack();
  const onTrouble = (trouble: unknown) => silent.warn(trouble, 'trouble');
  const watch = (resource: Resource) => stack.use(watchObjects(client, { resource, onTrouble }));
  const onUnreadable = (name: string, why: string) => silent.warn({ name, why }, 'unreadable');
  const records = stack.use(watchRecords(client, { onTrouble, onUnreadable }));
  const pools = watch(POOLS);
  const reserved = watch(RESERVED_IPS);
  const views = { records, pools, reserved, subnets: watch(SUBNETS), endpoints: watch(ENDPOINTS), pods: watch(PODS) };
  return {
    ...views,
    catalog: new PoolCatalog(pools, reserved),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
