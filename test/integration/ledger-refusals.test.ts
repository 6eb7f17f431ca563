import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { abandonedName } from '#pkg/ledger/abandoned-write.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { amended, expectFailure, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { recordRequests } from './ledger-requests.ts';

let cluster: LedgerCluster;
let ledger: Ledger;
let controller: Ledger;
const troubles: { pool: string; failure: Failure }[] = [];

beforeAll(async () => {
  cluster = await startLedgerCluster();
  const onWatchTrouble = (pool: string, failure: Failure) => void troubles.push({ pool, failure });
  ledger = openKubernetesLedger(cluster.agent(), { onWatchTrouble });
  controller = openKubernetesLedger(cluster.controller());
  return () => cluster[Symbol.asyncDispose]();
});

const SPEC = specOf('10.0.0.1');
let seen: IpRecord;

/** Everything the port can be asked, of a ledger that holds `seen`. */
const CALLS: readonly (() => Promise<unknown>)[] = [
  () => ledger.create(specOf('10.0.0.2')),
  () => ledger.create(SPEC),
  () => ledger.amend(seen, heldBy(SPEC, { attachGeneration: 3 })),
  () => ledger.release(seen),
  () => ledger.get('10.0.0.1'),
  () => ledger.byHolder('Pod/prod/web-0/eth0/4'),
  () => ledger.byNode('worker-1'),
  () => ledger.list({ limit: 10 }),
  () => ledger.takenOf('pool-a'),
];

async function reasonOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'none',
    (thrown) => (thrown instanceof IpamError ? thrown.reason : 'not an IpamError'),
  );
}

beforeEach(async () => {
  await cluster.clear();
  seen = await taken(ledger, SPEC);
});

describe('what the policy of the agents refuses is told in its words, and changes nothing', () => {
  const refusals: readonly { name: string; message: string; act: () => Promise<unknown> }[] = [
    {
      name: "a record of another node's",
      message: 'the agent of node worker-1 cannot make a record of node worker-2',
      act: () => ledger.create(heldBy(specOf('10.0.0.2'), { node: 'worker-2' })),
    },
    {
      name: 'Suspect',
      message: 'an agent does not move a record from Allocated to Suspect',
      act: () => ledger.amend(seen, inState(SPEC, 'Suspect')),
    },
    {
      name: 'the end of Cooling',
      message: 'a record that is Cooling is not deleted by an agent',
      act: async () => ledger.release(await amended(ledger, seen, inState(SPEC, 'Cooling'))),
    },
  ];

  test.each(refusals)('$name', async ({ act, message }) => {
    const error = await expectFailure(act(), 'internal');
    expect(error.message).toContain('the API server refused it as invalid');
    expect(error.details).toContain(message);
    expect(abandonedName(error)).toBeNull();
    expect((await controller.list({ limit: 10 })).map(({ uid }) => uid)).toEqual([seen.uid]);
  });

  test('the same acts are for the controller to do', async () => {
    const cooling = await amended(controller, seen, inState(SPEC, 'Cooling'));
    expect(await controller.release(cooling)).toEqual({ done: true });
  });
});

describe('without its role', () => {
  beforeEach(async () => {
    await kubectl(cluster.server, ['delete', 'clusterrolebinding', 'ipledger-agent']);
    await vi.waitFor(async () => expect(await reasonOf(ledger.get('10.0.0.1'))).toBe('bad-config'), 30_000);
  });
  afterEach(async () => {
    await applyManifests(cluster.server, 'rbac.yaml');
    await vi.waitFor(() => ledger.get('10.0.0.1'), 30_000);
  });

  test('every call says so, within its time', async () => {
    const started = performance.now();
    for (const error of await Promise.all(CALLS.map((call) => expectFailure(call(), 'bad-config')))) {
      expect(error.message).toMatch(/^cannot .*: this account is not allowed to/);
      expect(error.details).toContain('User "system:serviceaccount:ipledger:ipledger-agent" cannot');
      expect(abandonedName(error)).toBeNull();
    }
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await controller.get('10.0.0.1')).toEqual(seen);
  });

  test('a watch is asked for again and again, later and later, until it is granted', async () => {
    troubles.length = 0;
    const wake = vi.fn();
    using _watch = ledger.watchPool('pool-a', wake);
    const spent = await recordRequests(cluster.server, () => wait(3_000));
    expect((spent['LIST'] ?? 0) + (spent['WATCH'] ?? 0)).toBeLessThan(15);
    expect(troubles.length).toBeGreaterThan(1);
    expect(new Set(troubles.map(({ pool, failure }) => `${pool} ${failure.because}`))).toEqual(
      new Set(['pool-a Forbidden']),
    );
    expect(wake).not.toHaveBeenCalled();
    await applyManifests(cluster.server, 'rbac.yaml');
    await vi.waitFor(() => expect(wake).toHaveBeenCalled(), 30_000);
  });
});

/** The last one: with the CRD all records go. */
test('without the CRD nothing is gone, free or empty: the kind is not served', async () => {
  await kubectl(cluster.server, ['delete', 'crd', 'iprecords.ipledger.io']);
  await vi.waitFor(async () => expect(await reasonOf(ledger.get('10.0.0.1'))).toBe('bad-config'), 30_000);
  for (const call of CALLS) {
    const error = await expectFailure(call(), 'bad-config');
    expect(error.message).toMatch(/^cannot .*: the API server does not serve the kind IPRecord/);
    expect(abandonedName(error)).toBeNull();
  }
});
