import type { RestReason } from '#controller/claim-plan/claim-step.ts';
import { nextStep } from '#controller/claim-plan/next-step.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { keysByAge } from '#controller/give/age-order.ts';
import { keyOf, nameOfKey } from '#controller/give/fresh-objects.ts';
import type { ShownAddresses } from '#controller/give/shown-addresses.ts';
import { Vanished } from '#controller/give/vanished.ts';
import { leaveLine, wakeLine } from '#controller/give/waiting-line.ts';
import type { RecordChange, RecordsView } from '#controller/project/records-view.ts';
import { type Enqueue, type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { isHeld } from '#pkg/record/record-value.ts';
import { carryOutStep, confirmClaim, type StepDeps } from './carry-out-step.ts';
import { holdOf, observe, readClaimAt } from './claim-observer.ts';
import { type ClaimScope, isInScope } from './claim-scope.ts';
import type { PoolEdits } from './pool-edits.ts';

export interface ReconcileClaimsOptions extends ReconcilerContext, StepDeps {
  readonly views: Record<'claims' | 'addresses' | 'clusters' | 'namespaces' | 'pools' | 'reserved', ObjectView>;
  readonly recordsView: RecordsView;
  readonly edits: PoolEdits;
  readonly shown: ShownAddresses;
  readonly claimScope?: ClaimScope;
}

const DEBOUNCE_MS = 20;
const WORKERS = 16;
const BACKOFF = { firstMs: 100, mostMs: 10_000 };
const MOST_STEPS = 50;
/** Each claim is looked at again after this time, in case an event was lost. It costs no request. */
const LOOK_AGAIN_MS = 600_000;
const SHORTEST_HOLD_MS = 1_000;

/** Serves the claims of our pools: gives each its address, says why it has none, and takes the address back at the end. */
export function reconcileClaims(options: ReconcileClaimsOptions): AsyncDisposable {
  const { client, log, events, views, recordsView, now, claimScope } = options;
  const vanished = new Vanished({
    kind: 'IPAddressClaim',
    reason: 'ClaimVanished',
    // A move removes our finalizer: the machine may live on elsewhere with the address, so only an operator ends it.
    advice: ({ spec }) =>
      `if no machine has it any more, delete the IPAddress that shows it, if there is one, and run: ipledgerctl release ${spec.address}`,
    events,
    log,
    nowMs: () => client.timing.nowMs(),
  });

  return startReconciler(options, {
    kind: 'claim',
    failed: 'claim not reconciled',
    debounceMs: DEBOUNCE_MS,
    workers: WORKERS,
    backoff: BACKOFF,
    caches: [...Object.values(views), recordsView],
    watch: (enqueue) => watchClaims(options, enqueue),
    reconcile: async (key, pass) => {
      const object = options.claims.get(nameOfKey(key));
      if (object !== null && claimScope !== undefined && !isInScope(object, claimScope)) return undefined;
      const againMs = await serve(key, pass);
      const lookMs = vanished.look(key, heldByGone(key, options));
      return againMs === undefined || lookMs === undefined ? (againMs ?? lookMs) : Math.min(againMs, lookMs);
    },
  });

  async function serve(key: string, pass: Pass): Promise<number | undefined> {
    let isConfirmed = false;
    for (let steps = 0; steps < MOST_STEPS; steps += 1) {
      const claim = readClaimAt(options, key);
      if (claim === null) {
        leaveLine(key, null, lineOf(options), pass.enqueue);
        return undefined;
      }
      const seen = observe(options, claim);
      const step = nextStep(seen, now());
      if (step.do === 'rest') return settle(claim, step.why, options, pass);
      if (!isConfirmed && (step.do === 'take' || step.do === 'create-address')) {
        await confirmClaim(seen, options);
        isConfirmed = true;
        continue;
      }
      const ending = await carryOutStep(step, seen, options, pass);
      isConfirmed ||= ending === 'again' && step.do === 'add-finalizer';
      // What was chosen and lost may be free again for those in line.
      if (step.do === 'take') wakeLine(claim.pool, lineOf(options), pass.enqueue);
      if (ending === 'stop') return LOOK_AGAIN_MS;
      if (ending !== 'again') return ending;
    }
    return DEBOUNCE_MS;
  }
}

/** Keeps the line of waiting claims right, and says when to look again. */
function settle(claim: Claim, why: RestReason, options: ReconcileClaimsOptions, { enqueue }: Pass): number {
  const { unserved } = options;
  const isUnserved = why === 'exhausted' || why === 'pool-not-ready' || why === 'allocation-failed';
  leaveLine(keyOf(claim), why === 'exhausted' ? claim.pool : null, lineOf(options), enqueue);
  if (isUnserved) unserved.add(claim, why === 'exhausted');
  const hold = why === 'pool-not-ready' ? holdOf(options, claim) : null;
  return hold === null ? LOOK_AGAIN_MS : Math.max(hold.leftMs, SHORTEST_HOLD_MS);
}

function lineOf({ unserved, spaces, catalog }: ReconcileClaimsOptions) {
  return { unserved, spaces, factsOf: (pool: string) => catalog.find(pool)?.facts ?? null };
}

function watchClaims(options: ReconcileClaimsOptions, enqueue: Enqueue): readonly Disposable[] {
  const { views, recordsView, book, spaces, unserved, edits, shown } = options;
  const wakePool = (pool: string) => {
    spaces.forget(pool);
    book.ofPool(pool).forEach(enqueue);
    // Another pool may have overlapped this one.
    unserved.keysOf(() => true).forEach(enqueue);
  };
  const wakeHeld = (pool: string | null) => {
    if (pool !== null) unserved.notInLine(pool).forEach(enqueue);
  };
  const reweigh = (keys: readonly string[]) => {
    for (const key of keys) {
      wakeHeld(book.weigh(key));
      enqueue(key);
    }
  };
  for (const { metadata } of views.addresses.all()) shown.update(metadata);
  for (const { metadata } of views.claims.all()) book.update(metadata);
  keysByAge(views.claims.all()).forEach(enqueue);
  for (const { spec } of recordsView.all()) if (spec.holder.kind === 'IPAddressClaim') enqueue(keyOf(spec.holder));
  return [
    views.claims.onChange((at) => {
      wakeHeld(book.update(at));
      enqueue(keyOf(at));
    }),
    views.addresses.onChange((at) => {
      const freed = shown.update(at);
      if (freed !== null && spaces.reveal(freed.pool, freed.value)) wakeLine(freed.pool, lineOf(options), enqueue);
      reweigh([keyOf(at)]);
    }),
    views.clusters.onChange((at) => reweigh(book.ofCluster(at))),
    views.namespaces.onChange(({ name }) => unserved.keysOf((it) => it.namespace === name).forEach(enqueue)),
    views.reserved.onChange(() => {
      spaces.forgetAll();
      unserved.keysOf(() => true).forEach(enqueue);
    }),
    edits.onEdit(wakePool),
    recordsView.onChange((change) => followRecord(change, options, enqueue)),
  ];
}

function followRecord({ before, after }: RecordChange, options: ReconcileClaimsOptions, enqueue: Enqueue): void {
  for (const pool of options.spaces.follow(before, after)) wakeLine(pool, lineOf(options), enqueue);
  const { holder } = (after ?? before)?.spec ?? {};
  if (holder?.kind === 'IPAddressClaim') enqueue(keyOf(holder));
}

/**
 * The records of claims of that name that are gone, also where a later claim of that name lives: it never gets them. A record without
 * a uid is of an IPAddress whose claim is still to come.
 */
function heldByGone(key: string, { claims, recordsView }: ReconcileClaimsOptions): readonly IpRecord[] {
  const at = nameOfKey(key);
  const uid = claims.get(at)?.metadata.uid;
  const held = recordsView.ofHolder({ kind: 'IPAddressClaim', ...at }).filter(isHeld);
  return held.filter(({ spec: { holder } }) => holder.uid !== undefined && holder.uid !== uid);
}
