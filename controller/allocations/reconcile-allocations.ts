import type { AllocationRest } from '#controller/allocation-plan/allocation-step.ts';
import { nextOfAllocation } from '#controller/allocation-plan/next-of-allocation.ts';
import { lookAgainInMs } from '#controller/allocation-plan/next-of-held.ts';
import type { ObservedAllocation } from '#controller/allocation-plan/observed-allocation.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { keysByAge } from '#controller/give/age-order.ts';
import type { ShownAddresses } from '#controller/give/shown-addresses.ts';
import type { Ending } from '#controller/give/take-address.ts';
import { leaveLine, leaveLineOnFailure, wakeLine } from '#controller/give/waiting-line.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { type Enqueue, type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { AllocationsByName } from './allocation-book.ts';
import { asAsking, observeAllocation, readAllocationAt } from './allocation-observer.ts';
import {
  type AllocationDeed,
  type AllocationDeps,
  carryOutAllocation,
  confirmAllocation,
} from './carry-out-allocation.ts';
import type { HeldAddresses } from './held-addresses.ts';
import { sayAllocationRefusal } from './say-allocation-refusal.ts';
import { StatusPace } from './status-pace.ts';
import { VanishedAllocations } from './vanished-allocations.ts';

export interface ReconcileAllocationsOptions extends ReconcilerContext, AllocationDeps {
  readonly views: Record<'allocations' | 'networks' | 'configurations' | 'reserved', ObjectView>;
  readonly recordsView: RecordsView;
  readonly book: AllocationsByName;
  readonly shown: ShownAddresses;
  readonly held: HeldAddresses;
}

const DEBOUNCE_MS = 20;
const WORKERS = 16;
const BACKOFF = { firstMs: 100, mostMs: 10_000 };
const MOST_STEPS = 50;
/** Each is looked at again after this time, in case an event was lost. It costs no request. */
const LOOK_AGAIN_MS = 600_000;
const SHORTEST_MS = 1_000;
/** The watch may have no event for a record that came and went. */
const HELD_MS = 60_000;

/** Serves the IPAllocations: gives each its address, says why it has none, renews its time, and takes the address back at the end. */
export function reconcileAllocations(options: ReconcileAllocationsOptions): AsyncDisposable {
  const { client, views, recordsView, now, held, refused } = options;
  const vanished = new VanishedAllocations(options);
  const pace = new StatusPace(() => client.timing.nowMs());

  return startReconciler(options, {
    kind: 'allocation',
    failed: 'IPAllocation not reconciled',
    debounceMs: DEBOUNCE_MS,
    workers: WORKERS,
    backoff: BACKOFF,
    caches: [...Object.values(views), recordsView],
    watch: (enqueue) => watchAllocations(options, enqueue),
    reconcile: (key, pass) => leaveLineOnFailure(key, lineOf(options), pass.enqueue, () => advance(key, pass)),
  });

  async function advance(key: string, pass: Pass): Promise<number | undefined> {
    let isConfirmed = false;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const allocation = readAllocationAt(options, key);
      held.forget(key);
      if (allocation === null) {
        pace.forget(key);
        refused.delete(key);
        leaveLine(key, null, lineOf(options), pass.enqueue);
        return vanished.look(key);
      }
      const seen = observeAllocation(options, allocation);
      const step = nextOfAllocation(seen, now());
      if ('heldRecord' in step && step.heldRecord !== undefined) held.add(key, step.heldRecord);
      if (step.do === 'rest') {
        refused.delete(key);
        const againMs = settle(seen, step.why, options, pass);
        return Math.min(againMs, (await vanished.lookForEarlier(allocation)) ?? againMs);
      }
      if (!isConfirmed && (step.do === 'take' || step.do === 'name-record')) {
        await confirmAllocation(allocation, options);
        isConfirmed = true;
        continue;
      }
      const waitMs = step.do === 'write-status' ? pace.waitMs(key) : 0;
      if (waitMs > 0) return waitMs;
      const ending = await carryOut(step, seen, pass);
      if (ending === 'again' && step.do === 'write-status') pace.wrote(key);
      isConfirmed ||= ending === 'again' && (step.do === 'write-metadata' || step.do === 'write-status');
      // What was chosen and lost may be free again for those in line.
      if (step.do === 'take') wakeLine(asAsking(allocation).pool, lineOf(options), pass.enqueue);
      if (ending === 'stop') return LOOK_AGAIN_MS;
      if (ending !== 'again') return ending;
    }
    return DEBOUNCE_MS;
  }

  async function carryOut(step: AllocationDeed, seen: ObservedAllocation, pass: Pass): Promise<Ending> {
    try {
      return await carryOutAllocation(step, seen, options, pass);
    } catch (thrown) {
      await sayAllocationRefusal(step, thrown, seen, { deps: options, pass, pace });
      throw thrown;
    }
  }
}

/** Keeps the line of those that wait right, and says when to look again. */
function settle(
  seen: ObservedAllocation,
  why: AllocationRest,
  options: ReconcileAllocationsOptions,
  { enqueue }: Pass,
): number {
  const { unserved, restore, now } = options;
  const asking = asAsking(seen.allocation);
  const isInLine = why === 'exhausted';
  leaveLine(keyOf(asking), isInLine ? asking.pool : null, lineOf(options), enqueue);
  if (isInLine || why === 'waits') unserved.add(asking, isInLine);
  const hold = why === 'waits' ? restore.find() : null;
  const inMs =
    hold?.leftMs ?? (why === 'allocated' ? lookAgainInMs(seen, now()) : why === 'address-held' ? HELD_MS : null);
  return inMs === null ? LOOK_AGAIN_MS : Math.min(Math.max(inMs, SHORTEST_MS), LOOK_AGAIN_MS);
}

function lineOf({ unserved, spaces, networks }: ReconcileAllocationsOptions) {
  return { unserved, spaces, factsOf: (pool: string) => networks.find(pool)?.facts ?? null };
}

function watchAllocations(options: ReconcileAllocationsOptions, enqueue: Enqueue): readonly Disposable[] {
  const { views, recordsView, book, spaces, unserved, networks, shown, held } = options;
  for (const { metadata } of views.allocations.all()) {
    book.update(metadata);
    shown.update(metadata);
  }
  keysByAge(views.allocations.all()).forEach(enqueue);
  for (const { spec } of recordsView.all()) if (spec.holder.kind === 'IPAllocation') enqueue(keyOf(spec.holder));
  return [
    views.allocations.onChange((at) => {
      book.update(at);
      const freed = shown.update(at);
      if (freed !== null && spaces.reveal(freed.pool, freed.value)) wakeLine(freed.pool, lineOf(options), enqueue);
      enqueue(keyOf(at));
    }),
    views.configurations.onChange((at) => [...book.ofConfiguration(keyOf(at))].forEach(enqueue)),
    views.reserved.onChange(() => {
      spaces.forgetAll();
      for (const { metadata } of views.allocations.all()) enqueue(keyOf(metadata));
    }),
    networks.onEdit((pool) => {
      spaces.forget(pool);
      [...book.ofNetwork(pool)].forEach(enqueue);
      // Another pool may have overlapped this one.
      unserved.keysOf(() => true).forEach(enqueue);
    }),
    recordsView.onChange(({ before, after }) => {
      for (const pool of spaces.follow(before, after)) wakeLine(pool, lineOf(options), enqueue);
      const record = after ?? before;
      if (record === null) return;
      if (record.spec.holder.kind === 'IPAllocation') enqueue(keyOf(record.spec.holder));
      if (after === null && isOfOtherDomain(record, options))
        unserved.notInLine(record.spec.pool.name).forEach(enqueue);
      held.waitingFor(record.name).forEach(enqueue);
    }),
  ];
}

/** Its network has another domain now: those that ask for an address may have waited for its end. */
function isOfOtherDomain({ spec: { pool, domain } }: IpRecord, { networks }: ReconcileAllocationsOptions): boolean {
  const now = networks.find(pool.name)?.facts?.pool?.domain;
  return now !== undefined && now !== domain;
}
