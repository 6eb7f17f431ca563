import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { around, mortal } from '#test/support/mortal-client.ts';
import { type ClaimStage, NAMESPACE, PATIENCE, readyOf, startClaimStage } from './claim-stage.ts';
import { deaths } from './mortal-leader.ts';
import { tallyRequests } from './request-tally.ts';
import { sure } from './spider-objects.ts';

let stage: ClaimStage;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const AT = { namespace: NAMESPACE, name: 'vm-0' };
const untilGone = () =>
  vi.waitFor(async () => {
    expect(await stage.admin.get(CLAIMS, AT)).toMatchObject({ because: 'NotFound' });
    expect(await stage.address('vm-0')).toBeNull();
    expect(await stage.records()).toEqual([]);
  }, PATIENCE);

const WEBHOOKS: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
};

/** The webhook of Cluster API's core for IPAddresses, whose server is away. */
async function loseWebhook(): Promise<AsyncDisposable> {
  const name = 'capi-validating';
  const rule = { apiGroups: ['ipam.cluster.x-k8s.io'], apiVersions: ['*'], resources: ['ipaddresses'] };
  const webhook = {
    name: 'validation.ipaddress.ipam.cluster.x-k8s.io',
    clientConfig: { url: 'https://127.0.0.1:1/validate' },
    rules: [{ ...rule, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    timeoutSeconds: 1,
    admissionReviewVersions: ['v1'],
  };
  const { metadata } = await sure(stage.admin.create(WEBHOOKS, { metadata: { name }, webhooks: [webhook] }));
  // Of another provider: a leader that sees it before it is deleted would make its record.
  const poolRef = { apiGroup: 'ipam.cluster.x-k8s.io', kind: 'InClusterIPPool', name: 'lab' };
  const spec = { claimRef: { name: 'none' }, poolRef, address: '10.0.0.99', prefix: 16 };
  // The API server needs a moment to know of it.
  await vi.waitFor(async () => {
    const probe = { metadata: { namespace: NAMESPACE, name: 'probe' }, spec };
    const made = await stage.admin.create(IP_ADDRESSES, probe);
    if (made.ok)
      await stage.admin.delete(IP_ADDRESSES, { namespace: NAMESPACE, name: 'probe', uid: made.object.metadata.uid });
    expect(made.ok).toBe(false);
  }, PATIENCE);
  return {
    [Symbol.asyncDispose]: async () => {
      await stage.admin.delete(WEBHOOKS, { name, uid: metadata.uid });
    },
  };
}

describe('the core webhook for IPAddresses is away', () => {
  test('in an allocation: the claim says so, keeps its one record, and is served when the webhook is back', async () => {
    {
      await using _away = await loseWebhook();
      await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
      await using _leader = stage.lead();
      await stage.claim('vm-0');
      expect(await stage.says('vm-0', 'False/AllocationFailed')).toContain('failed calling webhook');
      expect(await stage.records()).toEqual(['10.0.0.5']);
    }
    await using _leader = stage.lead();
    expect(await stage.served('vm-0')).toBe('10.0.0.5');
    expect(await stage.records()).toEqual(['10.0.0.5']);
  });

  test('in a deletion: the claim stays until the webhook is back, and then nothing is left', async () => {
    await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
    await using _leader = stage.lead();
    const claim = await stage.claim('vm-0');
    await stage.served('vm-0');
    {
      await using _away = await loseWebhook();
      await stage.remove(claim);
      await vi.waitFor(async () => expect(await stage.records()).toEqual([]), PATIENCE);
      // A claim that came later shows that the leader goes on; its IPAddress is refused too.
      await stage.claim('later');
      await stage.says('later', 'False/AllocationFailed');
      expect((await stage.get('vm-0')).metadata.finalizers).toEqual([CLAIM_FINALIZER]);
      expect(await stage.address('vm-0')).not.toBeNull();
      await stage.remove(await stage.get('later'));
    }
    await untilGone();
  });
});

describe('a leader that is killed while it adopts what another client has made', () => {
  // 1 the finalizer, 2 the uid of the record, 3 the owner references of the IPAddress, 4 the status
  test.each(deaths([1, 2, 3, 4]))(
    '$when write $write: one record, with the uid, and the same IPAddress',
    async ({ write, isSent }) => {
      await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
      await stage.capiCluster('blue');
      const poolRef = { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' };
      const spec = { claimRef: { name: 'vm-0' }, poolRef, address: '10.0.0.7', prefix: 16 };
      const made = await sure(stage.admin.create(IP_ADDRESSES, { metadata: AT, spec }));
      {
        await using _first = stage.lead();
        await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.0.7']), PATIENCE);
      }
      expect((await stage.ledger.get('10.0.0.7'))?.spec.holder).not.toHaveProperty('uid');
      {
        const { client, died, isDead } = mortal(stage.cluster.controller(), write, isSent);
        const ledger = openKubernetesLedger(client, { timeoutMs: 300, attemptTimeoutMs: 100 });
        const viewClient = stage.cluster.controller();
        await using _second = stage.lead({ client, ledger, viewClient, isLeader: () => !isDead() });
        await stage.claim('vm-0', { cluster: 'blue' });
        await died;
      }
      await using _third = stage.lead();
      expect(await stage.served('vm-0')).toBe('10.0.0.7');
      const { uid } = (await stage.get('vm-0')).metadata;
      await vi.waitFor(async () => expect((await stage.ledger.get('10.0.0.7'))?.spec.holder.uid).toBe(uid), PATIENCE);
      expect(await stage.records()).toEqual(['10.0.0.7']);
      const address = await stage.address('vm-0');
      expect([address?.metadata.uid, address?.metadata.finalizers]).toEqual([made.metadata.uid, [ADDRESS_FINALIZER]]);
    },
  );
});

test('100 claims that wait cost no write and no Event when another leader begins and when their pool is edited', async () => {
  await stage.pool('lab', ['10.0.0.5']);
  await stage.pool('other', ['10.0.9.1-10.0.9.2']);
  await stage.ledger.create(specOf('10.0.0.5'));
  const names = Array.from({ length: 100 }, (_, at) => `vm-${at}`);
  {
    await using _first = stage.lead();
    await Promise.all(names.map((name) => stage.claim(name)));
    await vi.waitFor(
      async () => {
        const { items } = await sure(stage.admin.list(CLAIMS, { namespace: NAMESPACE }));
        expect(items.filter((claim) => readyOf(claim)['reason'] === 'PoolExhausted')).toHaveLength(100);
      },
      { timeout: 120_000, interval: 500 },
    );
  }
  const { settled, afterWrites } = tallyRequests(stage.cluster.server, ['ipaddressclaims'], []);
  const before = (await settled()).writes;
  const next = stage.lead();
  await using _next = next;
  await stage.claim('probe-0', { pool: 'other' });
  await stage.served('probe-0');
  await sure(stage.admin.patch(POOLS, { name: 'lab' }, { spec: { gateway: '10.0.0.1' } }));
  await stage.claim('probe-1', { pool: 'other' });
  await stage.served('probe-1');
  // Those of the probes: creation, finalizer, status.
  expect((await afterWrites(before + 6)).writes).toBe(before + 6);
  expect(next.told).toEqual([]);
});

test('an empty status is refused by the API server, and never sent: through waiting, service and deletion', async () => {
  await stage.pool('lab', ['10.0.0.5']);
  const bodies: unknown[] = [];
  const client = around(stage.cluster.controller(), (verb, call, [, , body]) => {
    const { status } = (body ?? {}) as { status?: object };
    if (verb === 'patch' && status !== undefined) bodies.push(status);
    return call();
  });
  const claim = await stage.claim('vm-0');
  const refused = await stage.admin.patch(CLAIMS, AT, { status: {} }, { subresource: 'status' });
  expect(refused).toMatchObject({ because: 'Invalid' });
  await using _leader = stage.lead({ client });
  await stage.served('vm-0');
  await stage.claim('vm-1');
  await stage.says('vm-1', 'False/PoolExhausted');
  await stage.remove(claim);
  await stage.served('vm-1');
  expect(bodies.length).toBeGreaterThanOrEqual(3);
  expect(bodies.filter((it) => Object.keys(it as object).length === 0)).toEqual([]);
});
