import { type DutyContext, FailedWrite, NOT_LEADING_MS } from '#controller/reconcile/projection-duty.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { apiVersionOf } from '#pkg/kube/objects/resource.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import type { ObjectView } from './object-view.ts';
import { planSubnetStatus } from './plan-subnet-status.ts';
import type { PoolCatalog } from './pool-catalog.ts';

export interface ProjectSubnetsOptions extends DutyContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly catalog: PoolCatalog;
}

const DEBOUNCE_MS = 1_000;

/** Keeps the status of every subnet equal to what its pools were given. Repairs what others write there. */
export function projectSubnets({
  client,
  log,
  isLeader,
  subnets,
  pools,
  catalog,
}: ProjectSubnetsOptions): AsyncDisposable {
  /** The network that each pool was last seen in: of one that is gone nothing else is known. */
  const networks = new Map<string, string>();

  const reconcile = async (name: string): Promise<number | undefined> => {
    const object = subnets.get({ name });
    const subnet = object === null ? null : readSubnet(object);
    if (object === null || subnet === null) return undefined;
    const known = catalog.names().flatMap((poolName) => {
      const found = catalog.find(poolName);
      const pool = found?.facts.pool ?? null;
      return pool === null ? [] : [{ pool, labels: found?.object.metadata.labels ?? {} }];
    });
    const status = planSubnetStatus(subnet, known, object['status']);
    if (status === null) return undefined;
    if (!isLeader()) return NOT_LEADING_MS;
    const { uid, resourceVersion } = object.metadata;
    const next = { metadata: { name, uid, resourceVersion }, status };
    const written = await client.update(SUBNETS, next, { subresource: 'status' });
    if (written.ok || written.because === 'NotFound') return undefined;
    if (written.because === 'Conflict') return DEBOUNCE_MS; // the watch is about to tell
    throw new FailedWrite(`the status of subnet ${name}`, written);
  };

  const queue = new WorkQueue({
    reconcile,
    onTrouble: (subnet, thrown, retryInMs) => log.warn({ subnet, err: thrown, retryInMs }, 'subnet status not written'),
  });
  const touch = (name: string) => queue.addAfter(name, DEBOUNCE_MS);
  const touchNetwork = (network: string | undefined) => {
    for (const object of subnets.all()) if (networkOf(object) === network) touch(object.metadata.name);
  };
  const seePool = (name: string) => {
    const pool = pools.get({ name });
    touchNetwork(networks.get(name));
    if (pool === null) networks.delete(name);
    else networks.set(name, networkOf(pool));
    touchNetwork(networks.get(name));
  };
  const stack = new AsyncDisposableStack();
  stack.use(queue);
  const listen = () => {
    stack.use(subnets.onChange(({ name }) => touch(name)));
    stack.use(pools.onChange(({ name }) => seePool(name)));
    for (const { metadata } of subnets.all()) touch(metadata.name);
    for (const { metadata } of pools.all()) seePool(metadata.name);
  };
  void Promise.all([subnets.synced, pools.synced]).then(
    () => void (stack.disposed || listen()),
    () => {}, // stopped before
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function networkOf(object: KubeObject): string {
  const subnet = isMap(object['spec']) ? object['spec']['subnet'] : undefined;
  return typeof subnet === 'string' ? subnet : '';
}

function readSubnet(object: KubeObject): SpiderSubnet | null {
  try {
    return decodeSpiderSubnet({ ...object, apiVersion: apiVersionOf(SUBNETS), kind: SUBNETS.kind });
  } catch {
    return null; // admission told its author
  }
}
