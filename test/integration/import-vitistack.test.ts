import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { VITISTACK } from '#pkg/adopt/vitistack/vitistack.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import { clientOf } from './kube-things.ts';
import { startLedgerCluster } from './ledger-cluster.ts';
import { sure } from './spider-objects.ts';

const NAMESPACE = 'default';
const ACCOUNT = { namespace: NAMESPACE, name: 'static-ip-operator' };
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment' };
const ACCOUNTS: Resource = { group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount' };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const ROLES: Resource = { ...RBAC, plural: 'clusterroles', kind: 'ClusterRole' };
const BINDINGS: Resource = { ...RBAC, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' };

/** static-ip-operator as its chart installs it. */
async function installOldOperator(admin: KubeClient): Promise<void> {
  const labels = { 'app.kubernetes.io/name': 'static-ip-operator' };
  const create = (kind: Resource, object: NewObject) => sure(admin.create(kind, object));
  await create(ACCOUNTS, { metadata: { ...ACCOUNT, labels } });
  const rules = [{ apiGroups: ['vitistack.io'], resources: ['networkconfigurations/status'], verbs: ['update'] }];
  await create(ROLES, { metadata: { name: 'old' }, rules });
  await create(BINDINGS, {
    metadata: { name: 'old' },
    roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name: 'old' },
    subjects: [{ kind: 'ServiceAccount', ...ACCOUNT }],
  });
  const template = {
    metadata: { labels },
    spec: { serviceAccountName: ACCOUNT.name, containers: [{ name: 'manager', image: 'old' }] },
  };
  await create(DEPLOYMENTS, {
    metadata: { ...ACCOUNT, labels },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
}

/** A NetworkConfiguration as the oldest static-ip-operator leaves it: the address is in its status alone. */
async function leaveConfiguration(admin: KubeClient, name: string, address: string): Promise<void> {
  const metadata = { namespace: NAMESPACE, name, finalizers: ['vitistack.io/static-ip-finalizer'] };
  const networkInterfaces = [{ name: 'eth0', macAddress: '02:00:00:00:00:01' }];
  const spec = { name: 'vm', networkNamespaceName: 'prod-network', networkInterfaces };
  await sure(admin.create(NETWORK_CONFIGURATIONS, { metadata, spec }));
  const shown = { name: 'eth0', ipv4Addresses: [address], ipAllocated: true, allocationMethod: 'static' };
  const patch = { status: { phase: 'Ready', networkInterfaces: [shown] } };
  await sure(admin.patch(NETWORK_CONFIGURATIONS, metadata, patch, { subresource: 'status' }));
}

test('the addresses of static-ip-operator get records once it is off; collisions are said, and nobody is renumbered', async () => {
  await using cluster = await startLedgerCluster();
  const { server } = cluster;
  await installVitistackKinds(server, { withSharedIps: false });
  await applyManifests(server, 'rbac-vitistack.yaml', 'rbac-vitistack-import.yaml');
  const controller = cluster.controller();
  /** What the controller looks at before it serves Vitistack, with its own rights. */
  const seen = () => VITISTACK.lookForLegacy(controller, 'ipledger');
  expect(await seen()).toEqual({ isAdopted: false, addresses: 0, unreadable: 0, accounts: [] });
  using admin = clientOf(server);
  const kubeconfig = join(server.dir, 'operator.yaml');
  const user = { name: 'operator', user: { token: await plainToken(server, 'ipledger-ctl') } };
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': server.caFile } }],
    users: [user],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'operator' } }],
    'current-context': 'c',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const run = async (...flags: string[]) => {
    const terminal = openMemoryTerminal({ nowMs: Date.parse('2026-11-18T20:00:00Z') });
    const code = await runCtl(['import', '--from', 'vitistack', ...flags], { kubeconfig }, terminal);
    return { code, lines: terminal.stdout.split('\n'), stderr: terminal.stderr };
  };
  const ledger = openKubernetesLedger(cluster.controller());
  const held = async () =>
    (await ledger.list({ limit: 100 })).map(({ spec: { address, pool, holder } }) => {
      return `${address} ${pool.name} ${holder.kind} ${holder.namespace}/${holder.name} ${holder.uid ?? 'unnamed'}`;
    });

  const block = { ipv4CIDR: '10.0.2.0/24', ipv4Gateway: '10.0.2.1' };
  await sure(
    admin.create(NETWORK_NAMESPACES, {
      metadata: { namespace: NAMESPACE, name: 'prod-network' },
      spec: { ipAllocation: { type: 'static', static: block } },
    }),
  );
  await installOldOperator(admin);
  for (const [name, address] of [
    ['web', '10.0.2.50'],
    ['db', '10.0.2.51'],
    ['twin', '10.0.2.50'],
  ] as const) {
    await leaveConfiguration(admin, name, address);
  }

  expect(await seen()).toMatchObject({ isAdopted: false, addresses: 3, accounts: ['default/static-ip-operator'] });
  const refused = await run('--dry-run');
  expect(refused).toMatchObject({ code: 1, stderr: '' });
  expect(refused.lines).toContain('may still give out addresses: service account default/static-ip-operator');
  const scaled = { spec: { replicas: 0 } };
  await sure(admin.patch(DEPLOYMENTS, ACCOUNT, scaled));
  const dry = await run('--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.lines[0]).toContain('2 addresses without a record');
  const collision = dry.lines.find((it) => it.startsWith('collision:'));
  expect(collision).toContain('NetworkConfiguration default/twin eth0 and NetworkConfiguration default/web eth0');
  expect(await held()).toEqual([]);

  expect(await run()).toMatchObject({ code: 0 });
  expect(await seen()).toMatchObject({ isAdopted: true });
  const records = [
    '10.0.2.50 default/prod-network IPAllocation default/twin-eth0 unnamed',
    '10.0.2.51 default/prod-network IPAllocation default/db-eth0 unnamed',
  ];
  expect(await held()).toEqual(records);
  expect((await run()).lines[0]).toContain('Adopted at 2026-11-18T20:00:00.000Z');
  expect(await held()).toEqual(records);
});
