import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFailed } from 'vitest';
import { endBy, startReady } from '#test/support/agent-life.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { builtPath } from '#test/support/built.ts';
import type { PodCluster } from './pod-cluster.ts';

interface ProcessWish {
  readonly node?: string;
  /** The directory of another build than dist/. */
  readonly program?: string;
  /** Variables of its environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface ClusterAgentProcess extends AsyncDisposable {
  /** The variables by which the plugin finds this agent. */
  readonly env: Readonly<Record<'IPLEDGER_SOCKET' | 'IPLEDGER_SPOOL', string>>;
  readonly dataDirectory: string;
  readonly spoolDirectory: string;
  readonly pid: number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM, as in an upgrade. */
  stop(): Promise<number | null>;
  /** Restarts it on the same directories, with the same build by default. */
  start(program?: string): Promise<void>;
}

/** The built agent, of worker-1 by default, with the token of its node, over the given port; resolves when it is ready. */
export async function startClusterAgentProcess(
  cluster: PodCluster,
  port: number,
  { node = 'worker-1', program, variables = {} }: ProcessWish = {},
): Promise<ClusterAgentProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-process-'));
  const at = (name: string) => join(directory, name);
  await writeFile(at('conf.yml'), 'enableIPv6: false\nexhaustedWaitSeconds: 1\n');
  await writeFile(at('kubeconfig'), JSON.stringify(await kubeconfigOf(cluster, node, port)));
  const env = {
    IPLEDGER_POD_NAMESPACE: 'ipledger',
    IPLEDGER_POD_NAME: `ipledger-agent-${node}`,
    IPLEDGER_NODE_NAME: node,
    IPLEDGER_HEALTH_PORT: String(await findFreePort()),
    IPLEDGER_ENABLED_METRIC: 'false',
    ...variables,
  };
  const socket = at('agent.sock');
  const files = ['--config', at('conf.yml'), '--kubeconfig', at('kubeconfig'), '--data', at('data')];
  const args = [...files, '--socket', socket, '--spool', at('spool'), '--log-level', 'debug'];
  const log: string[] = [];
  const start = (path: string) => startReady(path, args, socket, log, env);
  const first = program ?? (await builtPath('ipledger-agent'));
  let child = await start(first).catch(async (thrown: unknown) => {
    await rm(directory, { recursive: true, force: true });
    throw thrown;
  });
  onTestFailed(() => void process.stderr.write(`The agent's log:\n${log.join('')}\n`));
  return {
    env: { IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: at('spool') },
    dataDirectory: at('data'),
    spoolDirectory: at('spool'),
    get pid() {
      return child.pid ?? Number.NaN;
    },
    kill: async () => void (await endBy(child, 'SIGKILL', log)),
    stop: () => endBy(child, 'SIGTERM', log),
    start: async (path = first) => {
      child = await start(path);
    },
    [Symbol.asyncDispose]: async () => {
      await endBy(child, 'SIGKILL', log);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function kubeconfigOf({ ledger }: PodCluster, node: string, port: number): Promise<object> {
  const { headers } = await ledger.agentAccess(node, port)();
  const token = String(headers['authorization']).replace('Bearer ', '');
  const name = 'test';
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name, cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': ledger.server.caFile } },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
}
