import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { Unserved } from '#controller/give/unserved.ts';
import { NO_EVENTS } from '#pkg/kube/events/events.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';
import { buildClaim } from '#test/support/build-claim.ts';
import { ClaimBook } from './claim-book.ts';
import { type ReconcileClaimsOptions, reconcileClaims } from './reconcile-claims.ts';

function emptyView() {
  const listeners = new Listeners<ObjectIdentity>();
  return {
    synced: Promise.resolve(),
    get: (): KubeObject | null => null,
    all: () => [],
    tell: (at: ObjectIdentity) => listeners.tell(at),
    onChange: (listener: (at: ObjectIdentity) => void) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {},
  };
}

test('a claim that is deleted while it waits leaves the line', async () => {
  const claim = buildClaim();
  const claims = emptyView();
  const [addresses, clusters, namespaces, pools, reserved] = [1, 2, 3, 4, 5].map(emptyView);
  const views = { claims, addresses, clusters, namespaces, pools, reserved };
  const unserved = new Unserved();
  unserved.add(claim, true);
  const nothing = { [Symbol.dispose]: () => {} };
  const options = {
    client: { timing: SYSTEM_TIMING },
    log: pino({ enabled: false }),
    events: NO_EVENTS,
    isLeader: () => true,
    now: () => new Date(),
    views,
    recordsView: { synced: Promise.resolve(), all: () => [], ofHolder: () => [], onChange: () => nothing },
    book: new ClaimBook(views as never, () => 0),
    claims,
    catalog: { find: () => null },
    unserved,
    edits: { onEdit: () => nothing },
  };
  await using _running = reconcileClaims(options as unknown as ReconcileClaimsOptions);
  await Promise.resolve();
  await vi.waitFor(() => {
    claims.tell(claim);
    expect(unserved.keysOf(() => true)).not.toContain(keyOf(claim));
  }, 20_000);
});
