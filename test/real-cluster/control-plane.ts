import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Credentials, createCredentials, writeKubeconfig } from '#test/support/api-credentials.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { type ServerProcess, startServerProcess } from '#test/support/api-process.ts';
import { callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import type { ClusterPrograms } from './assets.ts';
import { inNetworkOf, type Machine, startMachine } from './machine.ts';
import { CONTROL_ADDRESS, SERVICE_ADDRESS, SERVICE_RANGE, UNDERLAY } from './plan.ts';

export interface ControlPlane extends AsyncDisposable {
  readonly machine: Machine;
  /** For this machine: a port on loopback that leads into the network of the control plane. */
  readonly place: ServerPlace;
  /** The same server, for the nodes. */
  readonly addressForNodes: string;
  readonly caFile: string;
  readonly nodeToken: (node: string) => string;
  /** What the API server did for ipledger, a line of JSON per request; null where it keeps no such log. */
  readonly auditFile: string | null;
  restartApiServer(): Promise<void>;
}

const ETCD_PORT = 2379;
const API_PORT = 443;

/** Both networks begin here: the management network with the API server, and the bridge of the underlay. */
const NETWORKS = `
ip link set lo up
ip link add mgmt type bridge && ip link set mgmt up
ip address add ${CONTROL_ADDRESS}/24 dev mgmt && ip address add ${SERVICE_ADDRESS}/32 dev mgmt
ip link add underlay type bridge && ip link set underlay up
${UNDERLAY.gateways.map((address) => `ip address add ${address} dev underlay${address.includes(':') ? ' nodad' : ''}`).join('\n')}
`;

export async function startControlPlane(
  programs: ClusterPrograms,
  dir: string,
  nodes: readonly string[],
  { isAudited = false }: { readonly isAudited?: boolean } = {},
): Promise<ControlPlane> {
  await using stack = new AsyncDisposableStack();
  const machine = stack.use(await startMachine(NETWORKS, join(dir, 'control-machine.log')));
  const credentials = await createCredentials(dir, [CONTROL_ADDRESS, SERVICE_ADDRESS]);
  const nodeToken = (node: string) => `${credentials.adminToken}-${node}`;
  await addNodeTokens(credentials, nodes, nodeToken);

  const access = { url: await openDoor(machine, stack, dir), caFile: credentials.caFile };
  const place = { ...access, adminToken: credentials.adminToken, kubeconfigFile: join(dir, 'admin.kubeconfig'), dir };
  await writeKubeconfig(place.kubeconfigFile, place.url, credentials);
  const addressForNodes = `https://${CONTROL_ADDRESS}:${API_PORT}`;
  const insideKubeconfig = join(dir, 'control.kubeconfig');
  await writeKubeconfig(insideKubeconfig, addressForNodes, credentials);

  const start = (name: string, program: string, port: number, args: readonly string[], isReady = async () => true) => {
    const [nsenter = '', ...rest] = [...inNetworkOf(machine.pid), program, ...args];
    return startServerProcess({ program: nsenter, args: rest, port, logFile: join(dir, `${name}.log`), isReady });
  };
  stack.use(await start('etcd', programs.etcd, ETCD_PORT, etcdFlags(dir)));
  const answersOk = async (path: string) =>
    (await callApi(place, { path, token: place.adminToken, timeoutMs: 2_000 })).status === 200;
  const isReady = async () => (await answersOk('/readyz')) && (await answersOk('/api/v1/namespaces/default'));
  const auditFile = isAudited ? join(dir, 'audit.log') : null;
  const flags = [...apiFlags(dir, credentials), ...(auditFile === null ? [] : await auditFlags(dir, auditFile))];
  const startApi = () => start('kube-apiserver', programs.kubeApiServer, API_PORT, flags, isReady);
  let api: ServerProcess = await startApi();
  stack.defer(() => api.kill());
  const manager = join(programs.dir, 'kube-controller-manager');
  const scheduler = join(programs.dir, 'kube-scheduler');
  const [one, other] = await Promise.all([
    start('kube-controller-manager', manager, 10_257, managerFlags(insideKubeconfig, credentials)),
    start('kube-scheduler', scheduler, 10_259, [`--kubeconfig=${insideKubeconfig}`, '--leader-elect=false']),
  ]);
  stack.use(one);
  stack.use(other);

  const everything = stack.move();
  return {
    machine,
    place,
    addressForNodes,
    caFile: credentials.caFile,
    nodeToken,
    auditFile,
    restartApiServer: async () => {
      await api.kill();
      api = await startApi();
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

async function addNodeTokens(
  { tokenFile }: Credentials,
  nodes: readonly string[],
  tokenOf: (node: string) => string,
): Promise<void> {
  const lines = nodes.map((node) => `${tokenOf(node)},system:node:${node},${node},system:nodes\n`);
  await writeFile(tokenFile, lines.join(''), { flag: 'a' });
}

/** A socket belongs to the network in which it was made: this one listens here, and its connections are made there. */
async function openDoor(machine: Machine, stack: AsyncDisposableStack, dir: string): Promise<string> {
  const port = await findFreePort();
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await using log = await open(join(dir, 'door.log'), 'a');
  const [program = '', ...args] = ['--pdeathsig', 'KILL', ...inNetworkOf(machine.pid), process.execPath];
  const script = join(import.meta.dirname, 'door.ts');
  const child = spawn('setpriv', [program, ...args, script, `${API_PORT}`], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  stack.defer(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await once(child, 'message');
  child.send('listen', server);
  await once(child, 'message');
  server.close();
  return `https://127.0.0.1:${port}`;
}

const etcdFlags = (dir: string) => [
  `--data-dir=${dir}/etcd`,
  `--listen-client-urls=http://127.0.0.1:${ETCD_PORT}`,
  `--advertise-client-urls=http://127.0.0.1:${ETCD_PORT}`,
  '--listen-peer-urls=http://127.0.0.1:0',
  '--log-level=warn',
  '--unsafe-no-fsync',
];

const apiFlags = (dir: string, credentials: Credentials) => [
  `--etcd-servers=http://127.0.0.1:${ETCD_PORT}`,
  '--bind-address=0.0.0.0',
  `--advertise-address=${CONTROL_ADDRESS}`,
  `--secure-port=${API_PORT}`,
  `--cert-dir=${dir}/generated`,
  `--tls-cert-file=${credentials.certFile}`,
  `--tls-private-key-file=${credentials.keyFile}`,
  `--token-auth-file=${credentials.tokenFile}`,
  '--authorization-mode=Node,RBAC',
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${credentials.signingKeyFile}`,
  `--service-account-signing-key-file=${credentials.signingKeyFile}`,
  `--service-cluster-ip-range=${SERVICE_RANGE}`,
  '--allow-privileged=true',
  // No kube-proxy runs: webhooks are reached by the addresses of their pods.
  '--enable-aggregator-routing=true',
  // No DNS knows the names of the nodes.
  '--kubelet-preferred-address-types=InternalIP',
  '--endpoint-reconciler-type=none',
];

/** Only the requests of ipledger's daemons are logged: a log of all would slow down what is measured. */
async function auditFlags(dir: string, auditFile: string): Promise<string[]> {
  const policyFile = join(dir, 'audit-policy.json');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts:ipledger'] }, { level: 'None' }],
  };
  await writeFile(policyFile, JSON.stringify(policy));
  return [`--audit-policy-file=${policyFile}`, `--audit-log-path=${auditFile}`];
}

const managerFlags = (kubeconfig: string, credentials: Credentials) => [
  `--kubeconfig=${kubeconfig}`,
  '--leader-elect=false',
  `--service-account-private-key-file=${credentials.signingKeyFile}`,
  `--root-ca-file=${credentials.caFile}`,
  '--node-monitor-grace-period=40s',
  '--kube-api-qps=200',
  '--kube-api-burst=400',
];
