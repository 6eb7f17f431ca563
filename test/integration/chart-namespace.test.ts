import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readControllerEnv } from '#controller/controller-env.ts';
import { startController } from '#controller/start-controller.ts';
import { runCtl } from '#ctl/run-ctl.ts';
import { decodeClusterConfig } from '#pkg/config/decode-cluster-config.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { callApi } from '#test/support/api-request.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { CHART, CRD_CHART, mustHelm } from '#test/support/helm.ts';
import { waitUntilServed } from '#test/support/manifests.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { joinLedgerCluster, type LedgerCluster } from './ledger-cluster.ts';
import { startAgentOf } from './pod-cluster.ts';

const NAMESPACE = 'underlay-ipam';
const MARKER = `/api/v1/namespaces/${NAMESPACE}/configmaps/ipledger-adopted`;
const PATIENCE = { timeout: 60_000, interval: 100 };

let server: ApiServer;
let ledger: LedgerCluster;

beforeAll(async () => {
  server = await startApiServer();
  const there = [`--namespace=${NAMESPACE}`, '--create-namespace'];
  await mustHelm(server, 'install', 'ipledger-crds', CRD_CHART, ...there);
  await waitUntilServed(server, '/apis/ipledger.io/v1alpha1/iprecords');
  await waitUntilServed(server, '/apis/spiderpool.spidernet.io/v2beta1/spiderippools');
  await mustHelm(server, 'install', 'ipledger', CHART, ...there, '--set=webhook.enabled=false');
  ledger = await joinLedgerCluster(server, NAMESPACE);
});
afterAll(async () => {
  await ledger?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const marker = () => callApi(server, { path: MARKER, token: server.adminToken });
const markedBy = async () => ((await marker()).body as { data?: { adoptedBy?: string } }).data?.adoptedBy;

test('in another namespace the controller writes the marker there, and the agent becomes ready', async () => {
  await using agent = await startAgentOf({ ledger }, { variables: { IPLEDGER_POD_NAMESPACE: NAMESPACE } });
  await using _controller = await startOwnController();
  await vi.waitUntil(async () => (await marker()).status === 200, PATIENCE);
  expect(await markedBy()).toBe('c-1');
  await agent.untilReady();
});

test('ipledgerctl import writes the marker into the namespace that -n names, with the rights of its role there', async () => {
  await callApi(server, { method: 'DELETE', path: MARKER, token: server.adminToken });
  const kubeconfig = join(server.dir, 'operator.yaml');
  const adminToken = await plainToken(server, 'ipledger-ctl', NAMESPACE);
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
  const terminal = openMemoryTerminal({});
  expect([await runCtl(['import', '--namespace', NAMESPACE], { kubeconfig }, terminal), terminal.stderr]).toEqual([
    0,
    '',
  ]);
  expect(await markedBy()).toBe(`system:serviceaccount:${NAMESPACE}:ipledger-ctl`);
});

test('ipledgerctl import names the option where the namespace does not exist', async () => {
  const terminal = openMemoryTerminal({});
  const code = await runCtl(['import', '-n', 'nowhere'], { kubeconfig: server.kubeconfigFile }, terminal);
  expect([code, terminal.stderr]).toEqual([
    2,
    expect.stringContaining('the namespace nowhere does not exist: install ipledger first'),
  ]);
});

/** The controller in this process, as a pod of that namespace. */
async function startOwnController(): Promise<AsyncDisposable> {
  const variables = {
    IPLEDGER_POD_NAME: 'c-1',
    IPLEDGER_POD_NAMESPACE: NAMESPACE,
    IPLEDGER_HEALTH_PORT: String(await findFreePort()),
    IPLEDGER_ENABLED_METRIC: 'false',
  };
  const { env } = readControllerEnv(variables);
  const { config } = decodeClusterConfig({});
  const loadAccess = ledger.controllerAccess();
  const claimScope = { namespace: null, watchFilter: null };
  const setting = { config, env, loadAccess, servesWebhook: false, claimScope, host: '127.0.0.1' };
  return await startController(setting, pino({ level: 'silent' }));
}
