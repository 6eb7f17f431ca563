import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findApiBinaries } from './api-binaries.ts';
import { type Credentials, createCredentials, writeKubeconfig } from './api-credentials.ts';
import { type Etcd, startEtcd } from './api-etcd.ts';
import { type Labels, sumCounter } from './api-metrics.ts';
import { findFreePort } from './api-ports.ts';
import { type ServerCommand, startServerProcess } from './api-process.ts';
import { type ApiAccess, callApi } from './api-request.ts';
import { createRunDir, removeLeftovers } from './api-run-dir.ts';

export interface ApiServerOptions {
  /** etcd calls fsync, as in production. Off by default. */
  readonly fsync?: boolean;
  /** More flags for kube-apiserver. */
  readonly flags?: readonly string[];
}

interface AdminAccess extends ApiAccess {
  readonly adminToken: string;
}

/** The address of a server, as plain data that can be passed to another process. */
export interface ServerPlace extends AdminAccess {
  readonly kubeconfigFile: string;
  /** Holds the logs and the data; removed with the first server. */
  readonly dir: string;
}

/** A server that is shared: send requests, but do not pause or kill it. */
export interface RunningServer extends ServerPlace {
  metrics(): Promise<string>;
  requestCount(labels: Labels): Promise<number>;
}

export interface ApiServer extends RunningServer, AsyncDisposable {
  pid(): number;
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Kills it if it still runs, and starts it on the same port and data. */
  restart(): Promise<void>;
  /** A second kube-apiserver on the same etcd; it ends with the first one at the latest. */
  secondServer(): Promise<ApiServer>;
  /** Makes a backup of etcd; the server is away for some seconds. */
  saveStore(): Promise<void>;
  /** Restores the backup: what was written since is gone, and revisions go back, unless they are bumped. The server is away for some seconds. */
  restoreStore(bumpBy?: number): Promise<void>;
}

interface Site {
  readonly program: string;
  readonly dir: string;
  readonly etcd: Etcd;
  readonly credentials: Credentials;
  readonly flags: readonly string[];
  readonly servers: AsyncDisposableStack;
}

/** A real etcd and kube-apiserver on loopback, with RBAC and without controllers: no service accounts, no garbage collection. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const binaries = await findApiBinaries();
  await removeLeftovers();
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await createRunDir(), (path) => rm(path, { recursive: true, force: true }));
  const credentials = await createCredentials(dir);
  const etcd = stack.use(await startEtcd(binaries.etcd, dir, options.fsync ?? false));
  const servers = stack.use(new AsyncDisposableStack());
  const site = {
    program: binaries.kubeApiServer,
    dir,
    etcd,
    credentials,
    flags: options.flags ?? [],
    servers,
  };
  const server = await startOn(site);
  const everything = stack.move();
  return { ...server, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

export function reachServer(place: ServerPlace): RunningServer {
  const metrics = async () => String((await callApi(place, { path: '/metrics', token: place.adminToken })).body);
  const requestCount = async (labels: Labels) => sumCounter(await metrics(), 'apiserver_request_total', labels);
  return { ...place, metrics, requestCount };
}

async function startOn(site: Site): Promise<ApiServer> {
  const port = await findFreePort();
  const { caFile, adminToken } = site.credentials;
  const access = { url: `https://127.0.0.1:${port}`, caFile, adminToken };
  const kubeconfigFile = join(site.dir, `kubeconfig-${port}.yaml`);
  await writeKubeconfig(kubeconfigFile, access.url, site.credentials);
  const command = serverCommand(site, port, access);

  let running = await startServerProcess(command);
  const kill = () => running.kill();
  site.servers.defer(kill);

  const whileAway = async (work: () => Promise<void>) => {
    await kill();
    await work();
    running = await startServerProcess(command);
  };
  return {
    ...reachServer({ ...access, kubeconfigFile, dir: site.dir }),
    pid: () => running.pid,
    pause: () => running.pause(),
    resume: () => running.resume(),
    kill,
    restart: () => whileAway(async () => {}),
    secondServer: () => startOn(site),
    saveStore: () => whileAway(() => site.etcd.save()),
    restoreStore: (bumpBy = 0) => whileAway(() => site.etcd.restore(bumpBy)),
    [Symbol.asyncDispose]: kill,
  };
}

function serverCommand(site: Site, port: number, access: AdminAccess): ServerCommand {
  const answersOk = async (path: string) => {
    const { status } = await callApi(access, { path, token: access.adminToken, timeoutMs: 2_000 });
    return status === 200;
  };
  return {
    program: site.program,
    args: [...serverFlags(site, port), ...site.flags],
    port,
    logFile: join(site.dir, `kube-apiserver-${port}.log`),
    // readyz does not wait for the namespace `default`, and a create in it answers 404 until then.
    isReady: async () => (await answersOk('/readyz')) && (await answersOk('/api/v1/namespaces/default')),
  };
}

function serverFlags({ etcd, credentials, dir }: Site, port: number): string[] {
  return [
    `--etcd-servers=${etcd.url}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${dir}/generated`,
    `--tls-cert-file=${credentials.certFile}`,
    `--tls-private-key-file=${credentials.keyFile}`,
    `--token-auth-file=${credentials.tokenFile}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.signingKeyFile}`,
    `--service-account-signing-key-file=${credentials.signingKeyFile}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
  ];
}
