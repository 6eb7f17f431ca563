import { readFile } from 'node:fs/promises';
import { vi } from 'vitest';
import type { ClientOptions } from '#pkg/kube/client/caller.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import { toNewObject } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, type ApiServerOptions, type RunningServer, startApiServer } from '#test/support/api-server.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { plainToken, podToken } from '#test/support/service-account-tokens.ts';

const NODES = ['worker-0', 'worker-1', 'worker-2'];
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';

interface ClientWish extends Partial<ClientOptions> {
  /** That of a proxy or of a second server. */
  readonly port?: number;
}

/** An API server with the parts of deploy/ that concern the ledger, and the writers of records. */
export interface LedgerCluster<Server extends RunningServer = ApiServer> extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  /** The client of an agent, with the token that is bound to its pod on that node, `worker-1` by default. */
  agent(wish?: ClientWish & { readonly node?: string }): KubeClient;
  controller(wish?: ClientWish): KubeClient;
  /** How the agent of a node reaches the server, or the proxy or second server on that port. */
  agentAccess(node: string, port?: number): LoadAccess;
  controllerAccess(): LoadAccess;
  clear(): Promise<void>;
}

/** On its own server, for tests that pause, kill or misconfigure it. */
export async function startLedgerCluster(options: ApiServerOptions = {}): Promise<LedgerCluster> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startApiServer(options));
  await applyManifests(server, 'crds', 'admission-policy.yaml', 'rbac.yaml');
  const cluster = stack.use(await joinLedgerCluster(server));
  const everything = stack.move();
  return { ...cluster, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

/** On an existing server with all of deploy/, or with the chart in that namespace. */
export async function joinLedgerCluster<Server extends RunningServer>(
  server: Server,
  namespace?: string,
): Promise<LedgerCluster<Server>> {
  const clients = new DisposableStack();
  const ca = await readFile(server.caFile);
  const port = Number(new URL(server.url).port);
  const accessWith = (token: string, at: number): LoadAccess => {
    const headers = { authorization: `Bearer ${token}` };
    return async () => ({ origin: `https://127.0.0.1:${at}`, pathPrefix: '', tls: { ca }, headers });
  };
  const connect = (token: string, { port: at = port, ...options }: ClientWish = {}) =>
    clients.use(new KubeClient(accessWith(token, at), { userAgent: 'ledger-test', ...options }));
  const agentTokens = new Map<string, string>();
  for (const node of NODES) agentTokens.set(node, await podToken(server, 'ipledger-agent', node, namespace));
  const controllerToken = await plainToken(server, 'ipledger-controller', namespace);
  await untilPolicyHolds(server, agentTokens.get('worker-1'));
  return {
    server,
    port,
    agent: ({ node = 'worker-1', ...wish } = {}) => connect(agentTokens.get(node) ?? '', wish),
    agentAccess: (node, at = port) => accessWith(agentTokens.get(node) ?? '', at),
    controllerAccess: () => accessWith(controllerToken, port),
    controller: (wish) => connect(controllerToken, wish),
    clear: async () => {
      const { status } = await callApi(server, { method: 'DELETE', path: RECORDS, token: server.adminToken });
      if (status !== 200) throw new Error(`the records of the test before cannot be deleted: ${status}`);
    },
    [Symbol.asyncDispose]: async () => clients.dispose(),
  };
}

/** The API server applies a new policy some time after it was stored. */
async function untilPolicyHolds(server: RunningServer, agentToken: string | undefined): Promise<void> {
  const spec = heldBy(specOf('192.0.2.1'), { node: 'worker-2' });
  await vi.waitUntil(async () => (await dryRun(server, agentToken, spec)) === 422, 30_000);
}

async function dryRun(
  server: RunningServer,
  token: string | undefined,
  spec: ReturnType<typeof specOf>,
): Promise<number> {
  const body = { apiVersion: 'ipledger.io/v1alpha1', kind: 'IPRecord', ...toNewObject(spec) };
  const path = `${RECORDS}?dryRun=All`;
  const { status } = await callApi(server, {
    method: 'POST',
    path,
    body,
    ...(token === undefined ? {} : { token }),
  });
  return status;
}
