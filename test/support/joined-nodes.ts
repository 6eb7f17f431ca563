import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { writeKubeconfig } from './api-credentials.ts';
import { callApi } from './api-request.ts';
import type { ApiServer } from './api-server.ts';
import { applyManifests } from './manifests.ts';
import { podToken } from './service-account-tokens.ts';

const POLICY_TIMEOUT_MS = 60_000;

/** A node of a cluster, and the kubeconfig of its agent with a token that is bound to the agent's pod on that node. */
export interface JoinedNode {
  readonly name: string;
  /** The pod of the agent. */
  readonly podName: string;
  readonly token: string;
  readonly kubeconfigFile: string;
}

/** Applies CRDs, policy and roles of deploy/ and adds nodes. Resolves when the policy for agents is in force. */
export async function deployWithNodes(server: ApiServer, names: readonly string[]): Promise<JoinedNode[]> {
  await applyManifests(server, 'crds', 'admission-policy.yaml', 'rbac.yaml');
  const nodes: JoinedNode[] = [];
  for (const name of names) nodes.push(await joinNode(server, name));
  for (const { token } of nodes.slice(0, 1)) await untilPolicyHolds(server, token);
  return nodes;
}

async function joinNode(server: ApiServer, name: string): Promise<JoinedNode> {
  const token = await podToken(server, 'ipledger-agent', name);
  const kubeconfigFile = join(server.dir, `kubeconfig-${name}.yaml`);
  await writeKubeconfig(kubeconfigFile, server.url, { caFile: server.caFile, adminToken: token });
  return { name, podName: `ipledger-agent-${name}`, token, kubeconfigFile };
}

/** The API server applies a new policy some time after it was stored. */
async function untilPolicyHolds(server: ApiServer, token: string): Promise<void> {
  const spec = heldBy(specOf('192.0.2.1'), { node: 'not-its-own' });
  const body = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', ...toNewObject(spec) };
  const path = '/apis/ipledger.io/v1alpha1/iprecords?dryRun=All';
  const deadline = performance.now() + POLICY_TIMEOUT_MS;
  while ((await callApi(server, { method: 'POST', path, body, token })).status !== 422) {
    if (performance.now() > deadline) throw new Error('the admission policy does not take effect');
    await sleep(100);
  }
}
