import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { Listeners } from '#controller/cluster-view/listeners.ts';
import { Unserved } from '#controller/give/unserved.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { ObjectIdentity } from '#pkg/kube/watch/known-objects.ts';
import { buildClaimRecord } from '#test/support/build-claim.ts';
import { turnedTiming } from '#test/support/turned-timing.ts';
import { ClaimBook } from './claim-book.ts';
import { type ReconcileClaimsOptions, reconcileClaims } from './reconcile-claims.ts';

const PATIENCE = { timeout: 20_000, interval: 5 };
const AT = { namespace: 'prod', name: 'vm-0' };
/** It rests: its cluster is not there. */
const CLAIM: KubeObject = {
  metadata: { ...AT, uid: 'later-uid', resourceVersion: '9' },
  spec: {
    clusterName: 'blue',
    poolRef: { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' },
  },
};

function viewOf(object: KubeObject | null) {
  const listeners = new Listeners<ObjectIdentity>();
  return {
    synced: Promise.resolve(),
    get: () => object,
    all: () => (object === null ? [] : [object]),
    onChange: (listener: (at: ObjectIdentity) => void) => listeners.add(listener),
    [Symbol.asyncDispose]: async () => {},
  };
}

test('the record of an earlier claim is reported while a later claim of that name lives, and not the record of the later one', async () => {
  const told: EmittedEvent[] = [];
  const timing = turnedTiming();
  const claims = viewOf(CLAIM);
  const [addresses, clusters, namespaces, pools, reserved] = [1, 2, 3, 4, 5].map(() => viewOf(null));
  const views = { claims, addresses, clusters, namespaces, pools, reserved };
  const nothing = { [Symbol.dispose]: () => {} };
  const held = [
    buildClaimRecord('10.0.0.1', { uid: 'earlier-uid' }),
    buildClaimRecord('10.0.0.2', { uid: 'later-uid' }),
  ];
  const records = { synced: Promise.resolve(), all: () => [], get: () => null, ofHolder: () => held };
  const options = {
    client: { timing },
    log: pino({ enabled: false }),
    events: { emit: (event: EmittedEvent) => void told.push(event) },
    isLeader: () => true,
    now: () => new Date(),
    views,
    recordsView: { ...records, onChange: () => nothing },
    records: { get: () => null, ofHolder: () => [] },
    book: new ClaimBook(views as never, () => 0),
    claims,
    addresses,
    namespaces,
    restore: { find: () => null },
    catalog: { find: () => null },
    unserved: new Unserved(),
    edits: { onEdit: () => nothing },
    shown: { update: () => null },
  };
  await using _running = reconcileClaims(options as unknown as ReconcileClaimsOptions);
  await vi.waitFor(() => {
    // The watches have ten seconds to agree.
    timing.pass(10_000);
    expect(told.map(({ reason, note }) => `${reason}: ${note}`)).toEqual([
      expect.stringMatching(/^ClaimVanished: .*prod\/vm-0 \(uid earlier-uid\).*ipledgerctl release 10\.0\.0\.1$/),
    ]);
  }, PATIENCE);
});
