import { expect, test, vi } from 'vitest';
import { startAdmission } from '#controller/admission/start-admission.ts';
import { startNetworkReconcilers } from '#controller/network-reconcilers.ts';
import { NO_EVENTS } from '#pkg/kube/events/events.ts';
import { ENDPOINTS, FINALIZER, POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { startLedgerCluster } from './ledger-cluster.ts';
import { eventually, poolOf, sure } from './spider-objects.ts';
import { installWebhooks } from './webhook-install.ts';

test('the life of a pool: admitted, used, shown, not deleted, given back, gone; through a restart of the API server', async () => {
  await using cluster = await startLedgerCluster();
  using admin = clientOf(cluster.server);
  const client = cluster.controller();
  const ledger = openKubernetesLedger(client);
  const now = () => new Date();
  const port = await findFreePort();
  await installWebhooks(admin, port);
  await using _webhook = await startAdmission(
    { client, ledger, log: silent, now },
    {
      enableIPv4: true,
      enableIPv6: true,
      enableSpiderSubnet: true,
      enableValidatingResourcesDeletedWebhook: true,
      port,
      host: '127.0.0.1',
      clientCaFile: '',
      tls: { from: 'self', namespace: 'ipledger', names: ['127.0.0.1'] },
    },
  );
  await using views = watchAsLeader(client);
  await using reconcilers = startNetworkReconcilers({
    recordsMissingForMs: () => 0,
    adoptPools: true,
    vitistack: {
      rangeRules: { floor: 2 },
      providerSettings: { isStrict: false },
      isAdopted: async () => true,
    },
    client,
    ledger,
    log: silent,
    now,
    isLeader: () => true,
    records: views.records,
    pools: views.pools,
    pods: views.pods,
    events: NO_EVENTS,
    nodeCount: () => 3,
    autoPools: null,
    rules: { enableStatefulSet: true, enableCleanOutdatedEndpoint: false },
  });

  const spec = { subnet: '10.0.0.0/16', ips: ['10.0.0.1-10.0.0.2'] };
  // The API server takes up the configuration, and whom to trust, some time after they were stored.
  await vi.waitFor(() => sure(admin.create(POOLS, poolOf('pool-a', spec))), { timeout: 60_000, interval: 200 });
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => {
    expect(pool?.metadata.finalizers).toEqual([FINALIZER]);
    expect(pool?.['status']).toMatchObject({ totalIPCount: 2, allocatedIPCount: 0 });
  });

  const outcome = await ledger.create(heldBy(specOf('10.0.0.1'), { namespace: 'default' }));
  if (!outcome.taken) throw new Error('10.0.0.1 is taken');
  await eventually(admin, ENDPOINTS, { namespace: 'default', name: 'web-0' }, (endpoint) =>
    expect(endpoint?.['status']).toMatchObject({ current: { ips: [{ ipv4: '10.0.0.1/24' }] } }),
  );
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) =>
    expect(pool?.['status']).toMatchObject({ allocatedIPCount: 1 }),
  );
  const gauges = Object.fromEntries((await reconcilers.gauges()).map(({ name, value }) => [name, value]));
  expect(gauges).toMatchObject({ spiderpool_debug_ippool_available_ip_counts: 1 });

  await cluster.server.restart();
  const { metadata } = await vi.waitFor(() => sure(admin.get(POOLS, { name: 'pool-a' })), 60_000);
  const seen = { name: 'pool-a', uid: metadata.uid };
  await vi.waitFor(
    async () =>
      expect(await admin.delete(POOLS, seen)).toMatchObject({
        because: 'Forbidden',
        message: expect.stringContaining('cannot delete an IPPool with allocated IPs(1)'),
      }),
    { timeout: 60_000, interval: 500 },
  );
  await vi.waitFor(async () => expect(await ledger.release(outcome.record)).toEqual({ done: true }), 60_000);
  await sure(admin.delete(POOLS, seen));
  await eventually(admin, POOLS, { name: 'pool-a' }, (pool) => expect(pool).toBeNull());
  await eventually(admin, ENDPOINTS, { namespace: 'default', name: 'web-0' }, (endpoint) =>
    expect(endpoint).toBeNull(),
  );
});
