import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { installCapi } from '#test/support/capi-crds.ts';
import { kubectl } from '#test/support/manifests.ts';
import { type ClaimStage, NAMESPACE, PATIENCE, startClaimStage } from './claim-stage.ts';
import { holdWatches } from './held-watches.ts';
import { sure } from './spider-objects.ts';

let stage: ClaimStage;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const patch = (kind: Resource, name: string, body: Record<string, unknown>) =>
  sure(stage.admin.patch(kind, { ...(kind === POOLS ? {} : { namespace: NAMESPACE }), name }, body));
const pause = { 'cluster.x-k8s.io/paused': '' };
const unpause = { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } };
const LAB = ['10.0.0.5'];

/** Whatever wakes a claim is an event, and comes within this time. */
const MOST_MS = 1_000;

/** Once it is impatient, longer timers never fire. Before that, requests and watches may be tried again after a pause. */
function turnImpatient() {
  const longTimers = new Set<() => void>();
  let isImpatient = false;
  const setTimer: Timing['setTimer'] = (ms, run) => {
    if (ms <= MOST_MS) return SYSTEM_TIMING.setTimer(ms, run);
    if (isImpatient) return () => {};
    const cancel = SYSTEM_TIMING.setTimer(ms, () => {
      longTimers.delete(cancel);
      run();
    });
    longTimers.add(cancel);
    return () => {
      longTimers.delete(cancel);
      cancel();
    };
  };
  const begin = () => {
    isImpatient = true;
    for (const cancel of longTimers) cancel();
  };
  return { timing: { ...SYSTEM_TIMING, setTimer }, begin };
}

test.each([
  { name: 'its pool is created', before: async () => {}, wake: () => stage.pool('lab', LAB) },
  {
    name: 'its pool is enlarged',
    before: () => Promise.all([stage.pool('lab', ['10.0.0.4']), stage.ledger.create(specOf('10.0.0.4'))]),
    wake: () => patch(POOLS, 'lab', { spec: { ips: ['10.0.0.4-10.0.0.5'] } }),
  },
  {
    name: 'its pool is enabled',
    before: () => stage.pool('lab', LAB, { disable: true }),
    wake: () => patch(POOLS, 'lab', { spec: { disable: false } }),
  },
  {
    name: 'its pool is un-paused',
    before: () => stage.pool('lab', LAB, {}, { annotations: pause }),
    wake: () => patch(POOLS, 'lab', unpause),
  },
  {
    name: 'a pod gives its address back',
    before: () => Promise.all([stage.pool('lab', LAB), stage.ledger.create(specOf('10.0.0.5'))]),
    wake: async () => {
      const record = await stage.ledger.get('10.0.0.5');
      if (record !== null) await stage.ledger.release(record);
    },
  },
  { name: 'its cluster is created', before: () => stage.pool('lab', LAB), wake: () => stage.capiCluster('blue') },
  {
    name: 'its cluster is un-paused',
    before: () => Promise.all([stage.pool('lab', LAB), stage.capiCluster('blue', true)]),
    wake: () => patch(CLUSTERS, 'blue', { spec: { paused: false } }),
  },
])('a claim is woken by the event and by no timer of more than a second when $name', async ({ name, before, wake }) => {
  await stage.pool('probe', ['10.0.9.1']);
  await before();
  const impatience = turnImpatient();
  await using _leader = stage.lead({ client: stage.cluster.controller({ timing: impatience.timing }) });
  await stage.claim('vm-0', name.includes('cluster') ? { cluster: 'blue' } : {});
  // Whoever came later is served: the claim was looked at, and waits.
  await stage.claim('probe', { pool: 'probe' });
  await stage.served('probe');
  expect(await stage.address('vm-0')).toBeNull();
  impatience.begin();
  await wake();
  expect(await stage.served('vm-0')).toBe('10.0.0.5');
});

test('a leader that hears 30 s late of claims, IPAddresses and records, and has forgotten what it wrote itself: no second address, none lost', async () => {
  let aheadMs = 0;
  const timing = { ...SYSTEM_TIMING, nowMs: () => performance.now() + aheadMs };
  const late = holdWatches(stage.cluster.controller({ timing }), [CLAIMS, IP_ADDRESSES, IP_RECORDS]);
  let edits = 0;
  const lookAgain = () => {
    aheadMs += 31_000;
    edits += 1;
    return patch(POOLS, 'lab', { spec: { ips: [`10.0.0.1-10.0.0.${40 + edits}`] } });
  };
  await stage.pool('lab', ['10.0.0.1-10.0.0.40'], { disable: true });
  const leader = stage.lead({ client: late.client });
  const names = Array.from({ length: 10 }, (_, at) => `vm-${at}`);
  const claims = await Promise.all(names.map((name) => stage.claim(name)));
  await Promise.all(names.map((name) => stage.says(name, 'False/PoolNotReady')));

  late.hold();
  await using _prompt = stage.lead();
  await patch(POOLS, 'lab', { spec: { disable: false } });
  const addresses = await Promise.all(names.map((name) => stage.served(name)));
  expect(new Set(addresses).size).toBe(10);
  late.hold();
  await lookAgain();
  await vi.waitFor(() => expect(late.count('create', IP_RECORDS)).toBeGreaterThanOrEqual(10), PATIENCE);
  for (const claim of claims.slice(0, 5)) await stage.remove(claim);
  const kept = addresses.slice(5).sort();
  await vi.waitFor(async () => expect((await stage.records()).sort()).toEqual(kept), PATIENCE);
  late.hold();
  await lookAgain();
  await vi.waitFor(() => expect(late.count('get', CLAIMS)).toBeGreaterThanOrEqual(5), PATIENCE);

  late.letGo();
  await vi.waitFor(async () => expect((await stage.records()).sort()).toEqual(kept), PATIENCE);
  await leader[Symbol.asyncDispose]();
  expect((await stage.records()).sort()).toEqual(kept);
  expect(await Promise.all(names.slice(5).map((name) => stage.served(name)))).toEqual(addresses.slice(5));
});

test('Cluster API that is removed harms no pod: records stay, addresses are given, and installed again its claims are served', async () => {
  await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
  await using _leader = stage.lead();
  const pod = await stage.ledger.create(specOf('10.0.0.9'));
  await stage.claim('vm-0');
  await stage.served('vm-0');
  const kinds = [CLAIMS, IP_ADDRESSES, CLUSTERS].map(({ plural, group }) => `${plural}.${group}`);
  await kubectl(stage.cluster.server, ['delete', 'customresourcedefinitions', ...kinds]);
  const next = await stage.ledger.create(specOf('10.0.0.8'));
  expect(next.taken).toBe(true);
  await installCapi(stage.cluster.server);
  await vi.waitFor(() => stage.claim('vm-1'), PATIENCE);
  await stage.served('vm-1');
  expect(await stage.ledger.get('10.0.0.9')).toEqual(pod.record);
  expect(await stage.ledger.get('10.0.0.8')).toEqual(next.record);
});
