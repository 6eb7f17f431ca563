import type { RestReason } from '#controller/claim-plan/claim-step.ts';
import { isInLine, nextStep } from '#controller/claim-plan/next-step.ts';
import type { ObservedClaim } from '#controller/claim-plan/observed-claim.ts';
import type { Ending } from '#controller/give/take-address.ts';
import { Vanished } from '#controller/give/vanished.ts';
import { leaveLine, leaveLineOnFailure, wakeLine } from '#controller/give/waiting-line.ts';
import { type Pass, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { isHeld } from '#pkg/record/record-value.ts';
import { carryOutStep, confirmClaim, type StepDeps, type WriteStep } from './carry-out-step.ts';
import { holdOf, observe, readClaimAt } from './claim-observer.ts';
import { type ClaimScope, isInScope } from './claim-scope.ts';
import { sayRefusal } from './say-refusal.ts';
import { lineOf, type WatchClaimsOptions, watchClaims } from './watch-claims.ts';

export interface ReconcileClaimsOptions extends ReconcilerContext, StepDeps, WatchClaimsOptions {
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
      if (object !== null && claimScope !== undefined && !isInScope(object, claimScope)) {
        leaveLine(key, null, lineOf(options), pass.enqueue);
        return undefined;
      }
      const againMs = await leaveLineOnFailure(key, lineOf(options), pass.enqueue, () => advance(key, pass));
      const lookMs = vanished.look(key, heldByGone(key, options));
      return againMs === undefined || lookMs === undefined ? (againMs ?? lookMs) : Math.min(againMs, lookMs);
    },
  });

  async function advance(key: string, pass: Pass): Promise<number | undefined> {
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
      // Before anything is awaited: the claims that were created later are looked at in the meantime.
      if (isInLine(seen, step, now())) options.unserved.add(claim, true);
      else leaveLine(key, null, lineOf(options), pass.enqueue);
      if (!isConfirmed && (step.do === 'take' || step.do === 'create-address')) {
        await confirmClaim(seen, options);
        isConfirmed = true;
        continue;
      }
      const ending = await carryOut(step, seen, pass);
      isConfirmed ||= ending === 'again' && step.do === 'add-finalizer';
      if (ending === 'again') continue;
      leaveLine(key, null, lineOf(options), pass.enqueue);
      return ending === 'stop' ? LOOK_AGAIN_MS : ending;
    }
    return DEBOUNCE_MS;
  }

  async function carryOut(step: WriteStep, seen: ObservedClaim, pass: Pass): Promise<Ending> {
    try {
      return step.do === 'take' ? await take(seen, pass) : await carryOutStep(step, seen, options, pass);
    } catch (thrown) {
      await sayRefusal(step, thrown, seen, options, pass);
      throw thrown;
    }
  }

  async function take(seen: ObservedClaim, pass: Pass): Promise<Ending> {
    // Its address is chosen before anything is awaited, and is not counted as free from then on.
    options.unserved.remove(keyOf(seen.claim));
    try {
      return await carryOutStep({ do: 'take' }, seen, options, pass);
    } finally {
      // What was chosen and lost may be free again for those in line.
      wakeLine(seen.claim.pool, lineOf(options), pass.enqueue);
    }
  }
}

/** Keeps the line of waiting claims right, and says when to look again. */
function settle(claim: Claim, why: RestReason, options: ReconcileClaimsOptions, { enqueue }: Pass): number {
  const { unserved } = options;
  const isWaiting = why === 'exhausted' || why === 'held';
  leaveLine(keyOf(claim), isWaiting ? claim.pool : null, lineOf(options), enqueue);
  if (isWaiting || why === 'pool-not-ready' || why === 'allocation-failed') unserved.add(claim, isWaiting);
  if (why === 'arriving') return Math.max(options.book.arrivesForMs(claim, options.now()), SHORTEST_HOLD_MS);
  const hold = why === 'held' ? holdOf(options, claim) : null;
  return hold === null ? LOOK_AGAIN_MS : Math.max(hold.leftMs, SHORTEST_HOLD_MS);
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
