import { callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';

import { HOST_LOCAL, TWO_NICS } from './cni-config.ts';

const NAMESPACE = '--namespace=ipledger';
const LIMIT = '--timeout=300s';

/** As the page for operators says it (docs/cluster.md), from the manifests that are shipped. */
export async function installIpledger(place: ServerPlace, nodeCount: number): Promise<void> {
  await applyManifests(place, 'crds', 'admission-policy.yaml', 'rbac.yaml', 'flow-control.yaml', 'config.yaml');
  await applyManifests(place, 'controller.yaml', 'agent.yaml');
  // What waits a minute in production waits ten seconds here.
  await kubectl(place, [
    'set',
    'env',
    'deployment/ipledger-controller',
    NAMESPACE,
    'IPLEDGER_GC_SETTLE_DURATION=10',
    'IPLEDGER_GC_DEFAULT_INTERVAL_DURATION=60',
  ]);
  // Two replicas need two nodes, because they use ports of the host.
  if (nodeCount === 1) await kubectl(place, ['scale', 'deployment/ipledger-controller', NAMESPACE, '--replicas=1']);
  await kubectl(place, ['rollout', 'status', 'deployment/ipledger-controller', NAMESPACE, LIMIT]);
  await applyManifests(place, 'webhook.yaml');
  await kubectl(place, ['rollout', 'status', 'daemonset/ipledger-agent', NAMESPACE, LIMIT]);
  const webhooks = ['mutatingwebhookconfiguration/ipledger', 'validatingwebhookconfiguration/ipledger'];
  await kubectl(place, ['wait', '--for=jsonpath={.webhooks[0].clientConfig.caBundle}', LIMIT, ...webhooks]);
  for (const { name } of [TWO_NICS, HOST_LOCAL]) await createRuntimeClass(place, name);
  await kubectl(place, ['wait', '--for=condition=Ready', 'node', '--all', LIMIT]);
}

async function createRuntimeClass(place: ServerPlace, name: string): Promise<void> {
  const body = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: name };
  const path = '/apis/node.k8s.io/v1/runtimeclasses';
  const { status } = await callApi(place, { method: 'POST', path, token: place.adminToken, body });
  if (status !== 201) throw new Error(`POST ${path}: ${status}`);
}
