import type { ObjectView } from '#controller/project/object-view.ts';
import { type DutyContext, FailedWrite, NOT_LEADING_MS } from '#controller/reconcile/projection-duty.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import { SUBNET_CIDR_LABEL } from './cidr-label.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

export interface KeepSubnetsOptions extends DutyContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
}

const DEBOUNCE_MS = 300;
const LOOK_AGAIN_MS = 60_000;

/** Keeps finalizer, family and label on subnets, and lets a subnet go when it owns no pool any more. */
export function keepSubnets({ client, log, isLeader, subnets, pools }: KeepSubnetsOptions): AsyncDisposable {
  const reconcile = async (name: string): Promise<number | undefined> => {
    const object = subnets.get({ name });
    if (object === null) return undefined;
    const isTerminating = object.metadata.deletionTimestamp !== undefined;
    const next = isTerminating ? withoutFinalizer(object) : planUpkeep(object, SUBNET_CIDR_LABEL);
    if (next === null) return undefined;
    if (isTerminating) {
      const listed = await client.list(POOLS, {}, { form: 'metadata' });
      if (!listed.ok) throw new FailedWrite('list the pools', listed);
      if (listed.object.items.some((pool) => isOwnedBy(pool, object.metadata.uid))) return LOOK_AGAIN_MS;
    }
    if (!isLeader()) return NOT_LEADING_MS;
    const written = await client.update(SUBNETS, next);
    if (written.ok || written.because === 'NotFound') return undefined;
    if (written.because === 'Conflict') return DEBOUNCE_MS;
    throw new FailedWrite(`subnet ${name}`, written);
  };

  const queue = new WorkQueue({
    reconcile,
    onTrouble: (subnet, thrown, retryInMs) => log.warn({ subnet, err: thrown, retryInMs }, 'subnet not kept'),
  });
  const touch = (name: string) => queue.addAfter(name, DEBOUNCE_MS);
  const stack = new AsyncDisposableStack();
  stack.use(queue);
  const listen = () => {
    const touchAll = () => {
      for (const { metadata } of subnets.all()) touch(metadata.name);
    };
    stack.use(subnets.onChange(({ name }) => touch(name)));
    stack.use(
      pools.onChange(({ name }) => {
        if (pools.get({ name }) === null) touchAll();
      }),
    );
    touchAll();
  };
  void Promise.all([subnets.synced, pools.synced]).then(
    () => void (stack.disposed || listen()),
    () => {}, // stopped before
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  const owners: unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  return owners.some((owner) => isMap(owner) && owner['uid'] === uid);
}
