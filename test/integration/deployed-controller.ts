import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '#test/support/api-request.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { writeKubeconfig } from './controller-program.ts';

const DEPLOYMENT = '/apis/apps/v1/namespaces/ipledger/deployments/ipledger-controller';
const SETTINGS = '/api/v1/namespaces/ipledger/configmaps/spiderpool-conf';
const POD = 'ipledger-controller-0';
const LOOK_EVERY_MS = 100;

interface Container {
  readonly command: readonly ['ipledger-controller'];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly readinessProbe: { readonly httpGet: { readonly host: string; readonly path: string } };
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly [Container] } };
  };
}

interface DeployedController {
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Plays scheduler and kubelet for the Deployment of the controller: as soon as it is applied, the built controller runs as its
 * manifest says, and when its readiness probe succeeds, the Deployment is available. One process stands for all replicas, because
 * they would use the same ports of this host.
 */
export function deployController(server: ServerPlace, stack: AsyncDisposableStack): DeployedController {
  const lines: Record<string, unknown>[] = [];
  const stop = new AbortController();
  const running = run(server, lines, stop.signal);
  running.catch(() => {}); // thrown at the end of the test
  stack.defer(async () => {
    stop.abort();
    await running;
  });
  return { lines };
}

async function run(server: ServerPlace, lines: Record<string, unknown>[], signal: AbortSignal): Promise<void> {
  const deployment = await untilApplied(server, signal);
  if (deployment === null) return;
  const [container] = deployment.spec.template.spec.containers;
  const child = await start(server, container);
  const ended = once(child, 'exit');
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line)));
  while (!signal.aborted && !(await isReady(container))) await sleep(LOOK_EVERY_MS);
  if (!signal.aborted) await reportAvailable(server, deployment);
  if (!signal.aborted) await once(signal, 'abort');
  child.kill('SIGTERM');
  await ended;
}

async function untilApplied(server: ServerPlace, signal: AbortSignal): Promise<Deployment | null> {
  while (!signal.aborted) {
    const { status, body } = await callApi(server, { path: DEPLOYMENT, token: server.adminToken });
    if (status === 200) return body as Deployment;
    await sleep(LOOK_EVERY_MS);
  }
  return null;
}

/** With a kubeconfig in the place of the token that kubelet mounts, and a file in the place of the volume with the settings. */
async function start(server: ServerPlace, { command, args, env }: Container) {
  const settings = await callApi(server, { path: SETTINGS, token: server.adminToken });
  const config = join(server.dir, 'mounted-conf.yml');
  await writeFile(config, (settings.body as { data: Record<string, string> }).data['conf.yml'] ?? '');
  const kubeconfig = await writeKubeconfig({ cluster: { server } }, POD);
  const flags = args.map((arg) => arg.replace(/^--config=.*/, `--config=${config}`));
  const fields = (name: string) => (name.endsWith('NAMESPACE') ? 'ipledger' : POD);
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value ?? fields(name)]));
  return spawn(await builtPath(command[0]), [...flags, `--kubeconfig=${kubeconfig}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...launchEnvironment(), ...variables },
  });
}

function isReady({ readinessProbe, ports }: Container): Promise<boolean> {
  const { host, path } = readinessProbe.httpGet;
  const port = ports.find(({ name }) => name === 'health')?.containerPort;
  return fetch(`http://${host}:${port}${path}`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function reportAvailable(server: ServerPlace, { metadata, spec: { replicas } }: Deployment): Promise<void> {
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const body = { status: { observedGeneration: metadata.generation, ...counts } };
  const call = { method: 'PATCH', path: `${DEPLOYMENT}/status`, body, token: server.adminToken };
  const { status } = await callApi(server, call);
  if (status !== 200) throw new Error(`the status of the Deployment was refused: ${status}`);
}
