import { AGENT_LABELS } from '#controller/cluster-view/agent-pods.ts';
import { callApi } from './api-request.ts';
import type { ServerPlace } from './api-server.ts';

/** Where the manifests of deploy/ put the accounts. */
const USUAL_NAMESPACE = 'ipledger';
const pathOf = (namespace: string) => `/api/v1/namespaces/${namespace}`;

interface Named {
  readonly metadata: { readonly name: string; readonly labels?: object };
  readonly spec?: object;
}

interface Bound {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly name: string;
  readonly uid: string;
}

/** A token as kubelet projects it into a pod of that account on that node. Without a node the pod is not scheduled. */
export async function podToken(
  server: ServerPlace,
  account: string,
  node?: string,
  namespace = USUAL_NAMESPACE,
): Promise<string> {
  const name = `${account}-${node ?? 'nowhere'}`;
  if (node !== undefined) await ensure(server, '/api/v1/nodes', { metadata: { name: node } });
  const containers = [{ name: 'main', image: 'main' }];
  const spec = { serviceAccountName: account, containers, ...(node === undefined ? {} : { nodeName: node }) };
  const labels = account === 'ipledger-agent' ? AGENT_LABELS : {};
  const pod = await ensure<{ metadata: { uid: string } }>(server, `${pathOf(namespace)}/pods`, {
    metadata: { name, labels },
    spec,
  });
  return requestToken(server, namespace, account, { apiVersion: 'v1', kind: 'Pod', name, uid: pod.metadata.uid });
}

/** What kubelet reports of the agent's pod on that node, made by `podToken`. */
export async function setAgentReady(server: ServerPlace, node: string, isReady: boolean): Promise<void> {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  const path = `${pathOf(USUAL_NAMESPACE)}/pods/ipledger-agent-${node}/status`;
  const type = 'application/strategic-merge-patch+json';
  const body = { status: { phase: 'Running', conditions } };
  const { status } = await callApi(server, { method: 'PATCH', path, body, type, token: server.adminToken });
  if (status !== 200) throw new Error(`PATCH ${path}: ${status}`);
}

/** A token that belongs to no pod. */
export function plainToken(server: ServerPlace, account: string, namespace = USUAL_NAMESPACE): Promise<string> {
  return requestToken(server, namespace, account);
}

async function requestToken(
  server: ServerPlace,
  namespace: string,
  account: string,
  boundObjectRef?: Bound,
): Promise<string> {
  const path = `${pathOf(namespace)}/serviceaccounts/${account}/token`;
  const issued = await create<{ status: { token: string } }>(server, path, { spec: { boundObjectRef } });
  return issued.status.token;
}

async function create<T>(server: ServerPlace, path: string, body: unknown): Promise<T> {
  const answer = await callApi(server, { method: 'POST', path, body, token: server.adminToken });
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

/** Another test on the same server may have created it. */
async function ensure<T>(server: ServerPlace, path: string, body: Named): Promise<T> {
  const found = await callApi(server, { path: `${path}/${body.metadata.name}`, token: server.adminToken });
  return found.status === 200 ? (found.body as T) : create<T>(server, path, body);
}
