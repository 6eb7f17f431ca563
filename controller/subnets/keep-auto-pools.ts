import { planAutoPools } from '#controller/allot/plan-auto-pools.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { type PoolReadings, readSubnet } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import type { ShortageBoard } from '#controller/project/shortage-board.ts';
import { type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { Shortage } from '#pkg/autopool/shortage.ts';
import { mapAtMost } from '#pkg/concurrency/map-at-most.ts';
import type { EmittedEvent, Events } from '#pkg/kube/events/events.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { AskingApplications } from './applications.ts';
import type { WishRules } from './asking-application.ts';
import { CarryOut } from './carry-out.ts';
import { observeSubnet } from './observe-subnet.ts';
import { PoolOwners } from './pool-owners.ts';
import { type PoolNow, PoolsNow } from './pools-now.ts';
import { ApplicationReader } from './read-application.ts';
import { type FailedStep, type RefusedStep, RefusedSteps, sortFailed } from './refused-steps.ts';
import { type Lacking, shortageEvent } from './shortage-event.ts';
import { SubnetNews } from './subnet-news.ts';
import { ToldApplications } from './told-applications.ts';
import { WhoAsks } from './who-asks.ts';
import type { WorkloadPods } from './workload-pods.ts';

export interface KeepAutoPoolsOptions extends ReconcilerContext {
  readonly subnets: ObjectView;
  readonly pools: ObjectView;
  readonly reserved: ObjectView;
  readonly catalog: PoolReadings;
  readonly records: RecordsView;
  readonly workloads: WorkloadPods;
  readonly ledger: Pick<Ledger, 'takenOf'>;
  readonly events: Events;
  readonly wishRules: WishRules;
  /** How often applications are read that cannot be watched. */
  readonly readAgainMs: number;
  readonly shortages: ShortageBoard;
  /** For how long records, and pools, may still be missing, because the store may have been restored. */
  readonly recordsMissingForMs: () => number;
}

const DEBOUNCE_MS = 100;
/** Pools of one subnet that are written at once. */
const AT_ONCE = 8;
/** Pods of all applications of a subnet may wait for the pass that failed. */
const BACKOFF = { firstMs: 100, mostMs: 15_000 };

const SETTLING =
  'no pool is made or changed for a minute after the controller has started or lost the API server: agents write lost records back first';

/** Makes, grows, shrinks and takes back the pools of the applications that ask for subnets. One pass per subnet at a time. */
export function keepAutoPools(options: KeepAutoPoolsOptions): AsyncDisposable {
  const { now, subnets, reserved, catalog, records, workloads, shortages } = options;
  const stack = new AsyncDisposableStack();
  const reader = new ApplicationReader(options.client);
  const pools = stack.use(new PoolsNow(options.pools, now));
  const hasPools = (application: Controller) =>
    pools.of(application).some(({ pool }) => pool?.auto?.applicationUid === application.uid);
  const asks = stack.use(new WhoAsks({ ...options, reader, hasPools }));
  const { applications, unserved } = asks;
  const owners = stack.use(new PoolOwners({ ...options, reader, applications, onAsking: (it) => asks.keep(it) }));
  const isHeldBy = asks.isHeldBy.bind(asks);
  const sources = { applications, pools, records, isHeldBy, reserved: catalog.reserved.bind(catalog) };
  const refusedSteps = new RefusedSteps();
  const told = new ToldApplications(options.events);
  const tell = (subnet: string, events: readonly EmittedEvent[]): number | null => {
    const uids = applications.of(subnet).map(({ application }) => application.uid);
    return told.tell(subnet, events, new Set(uids), options.client.timing.nowMs());
  };
  /** Pools for which it matters that an address is given back, by subnet. */
  const waiting = new Map<string, ReadonlySet<string>>();
  const isAwaited = (subnet: string, pool: string) =>
    waiting.get(subnet)?.has(pool) === true || (shortages.of(subnet).length > 0 && !pools.has(pool));

  const reconcile = async (name: string, { write }: Pass): Promise<number | undefined> => {
    const object = subnets.get({ name });
    const subnet = object === null ? null : readSubnet(object);
    if (object === null || subnet === null) {
      waiting.delete(name);
      shortages.put(name, []);
      return tell(name, missingEvents(name, object === null ? 'does not exist' : 'cannot be read', asks)) ?? undefined;
    }
    // Without the record of a living pod its address looks free: no pool may lose it, and no other pool may get it.
    const missingForMs = options.recordsMissingForMs();
    if (missingForMs > 0) {
      if (applications.of(name).length > 0) shortages.put(name, SETTLING);
      return missingForMs;
    }
    const { situation, seen, nextFreeInMs } = observeSubnet(subnet, object, sources, now());
    const plan = planAutoPools(situation);
    waiting.set(name, plan.waiting);
    const carryOut = new CarryOut({ ...options, pools, applications, owners }, { subnet, object, seen }, write);
    const done = await mapAtMost(AT_ONCE, plan.steps, (step) =>
      carryOut.do(step).catch((thrown: unknown): FailedStep => ({ step, thrown })),
    );
    // Each step had its turn: the fault of one application does not hold up the others.
    const notDone = done.filter((it) => typeof it === 'object');
    const { refused, failed } = sortFailed(notDone);
    const { lasting, againInMs } = refusedSteps.note(name, refused, options.client.timing.nowMs());
    const lacking = [...plan.shortages, ...lasting.flatMap((it) => toShortages(it, seen))];
    shortages.put(name, [
      ...lacking.map(({ wanted: _, ...it }) => it),
      ...[unserved, applications].flatMap(faultsIn(name)),
    ]);
    const untoldMs = tell(
      name,
      lacking.map((it) => shortageEvent(name, it)),
    );
    if (failed.length > 0) throw failed[0];
    const again = done.filter((it) => typeof it === 'number');
    for (const ms of [againInMs, untoldMs]) if (ms !== null) again.push(ms);
    if (plan.shortages.length > 0 && nextFreeInMs !== null) again.push(nextFreeInMs + 1);
    return again.length === 0 ? undefined : Math.min(...again);
  };

  stack.use(
    startReconciler(options, {
      kind: 'subnet',
      failed: 'auto pools not reconciled',
      debounceMs: DEBOUNCE_MS,
      backoff: BACKOFF,
      caches: [subnets, options.pools, reserved, records, workloads, asks],
      watch: (enqueue) =>
        new SubnetNews({ ...options, applications, unserved, owners, poolsNow: pools, isAwaited }, enqueue).subscribe(),
      reconcile,
    }),
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function missingEvents(subnet: string, what: string, { applications }: WhoAsks): EmittedEvent[] {
  const note = `no pool is made from a subnet: SpiderSubnet ${subnet} ${what}`;
  return applications
    .of(subnet)
    .map(({ application }) => ({ regarding: application, type: 'Warning', reason: 'SubnetMissing', note }));
}

/** Applications of which it is not known what they want of the subnet. */
function faultsIn(subnet: string): (table: AskingApplications) => Shortage[] {
  return (table) =>
    table
      .of(subnet)
      .flatMap(({ application, fault }) => (fault === null ? [] : [{ application, interface: null, why: fault }]));
}

/** A pool that is to go or to become smaller is large enough. */
function toShortages({ step, why }: RefusedStep, seen: ReadonlyMap<string, PoolNow>): Lacking[] {
  if (step.do === 'delete') return [];
  const before = seen.get(step.name)?.pool?.addresses;
  if (before !== undefined && step.addresses.isSubsetOf(before)) return [];
  const { application, interface: nic } = step.wanted.key;
  return [{ application, interface: nic, why, wanted: step.wanted }];
}
