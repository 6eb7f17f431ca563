import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '#test/support/api-ports.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';

interface Place {
  readonly cluster: { readonly server: ServerPlace };
}

/** The built controller as a process, with the token of its service account. */
export interface ControllerProgram extends AsyncDisposable {
  readonly pid: number;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  metrics(): Promise<string>;
  health(path: 'startup' | 'readiness' | 'liveness'): Promise<number | null>;
  /** Resolves with the exit code, or null if the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export async function startControllerProgram(
  stage: Place,
  identity: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ControllerProgram> {
  return await runControllerProgram(await writeKubeconfig(stage, identity), identity, env);
}

/** The same for whatever server the kubeconfig names. */
export async function runControllerProgram(
  kubeconfig: string,
  identity: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ControllerProgram> {
  const program = await builtPath('ipledger-controller');
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const config = join(dirname(kubeconfig), `conf-${identity}.yml`);
  await writeFile(config, 'enableIPv4: true\n');
  const flags = ['--kubeconfig', kubeconfig, '--config', config, '--host', '127.0.0.1', '--no-webhook'];
  const child = spawn(program, flags, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...launchEnvironment(),
      SPIDERPOOL_POD_NAME: identity,
      SPIDERPOOL_POD_NAMESPACE: 'ipledger',
      SPIDERPOOL_HEALTH_PORT: String(port),
      SPIDERPOOL_METRIC_HTTP_PORT: String(metricsPort),
      IPLEDGER_GC_SETTLE_DURATION: '2',
      IPLEDGER_GC_NODE_GONE_DURATION: '2',
      IPLEDGER_GC_NODE_LEASE_FRESH_DURATION: '60',
      ...env,
    },
  });
  const ended = once(child, 'exit');
  const lines: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line)));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    pid: child.pid ?? 0,
    lines,
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    health: (path) =>
      fetch(`http://127.0.0.1:${port}/v1/runtime/${path}`).then(
        ({ status }) => status,
        () => null,
      ),
    end,
    [Symbol.asyncDispose]: async () => void (await end('SIGKILL')),
  };
}

/** In the place of the token that kubelet mounts into a pod of the controller. */
export async function writeKubeconfig({ cluster: { server } }: Place, identity: string): Promise<string> {
  const token = await plainToken(server, 'ipledger-controller');
  const file = join(server.dir, `controller-${identity}.json`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': server.caFile } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
