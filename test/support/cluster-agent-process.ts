import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endBy, startReady } from './agent-life.ts';
import { findFreePort } from './api-ports.ts';
import { builtPath } from './built.ts';
import type { JoinedNode } from './joined-nodes.ts';

const CONFIG = 'enableIPv4: true\nenableIPv6: false\n';

export interface ClusterAgentProcess extends AsyncDisposable {
  readonly node: string;
  readonly socket: string;
  readonly pid: number;
  readonly log: string;
}

interface AgentWish {
  /** Instead of the built agent. */
  readonly program?: readonly string[];
  /** Lines of conf.yml. */
  readonly config?: string;
}

/** The agent of one node with that node's token; resolves when it is ready. */
export async function startClusterAgentProcess(
  node: JoinedNode,
  { program, config = '' }: AgentWish = {},
): Promise<ClusterAgentProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-node-'));
  const at = (name: string) => join(directory, name);
  const log: string[] = [];
  const cleanUp = async (child?: ChildProcess) => {
    if (child !== undefined) await endBy(child, 'SIGKILL', log);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await writeFile(at('conf.yml'), `${CONFIG}${config}`);
    const places = ['--data', at('data'), '--spool', at('spool'), '--socket', at('agent.sock')];
    const flags = ['--config', at('conf.yml'), '--kubeconfig', node.kubeconfigFile, ...places];
    const command = [...(await variablesOf(node)), ...(program ?? [await builtPath('ipledger-agent')]), ...flags];
    const child = await startReady('env', command, at('agent.sock'), log);
    return {
      node: node.name,
      socket: at('agent.sock'),
      pid: child.pid ?? Number.NaN,
      get log() {
        return log.join('');
      },
      [Symbol.asyncDispose]: () => cleanUp(child),
    };
  } catch (thrown) {
    await cleanUp();
    throw thrown;
  }
}

async function variablesOf({ name, podName }: JoinedNode): Promise<string[]> {
  return [
    `SPIDERPOOL_NODE_NAME=${name}`,
    `SPIDERPOOL_POD_NAME=${podName}`,
    'SPIDERPOOL_POD_NAMESPACE=ipledger',
    `SPIDERPOOL_HEALTH_PORT=${await findFreePort()}`,
    `SPIDERPOOL_METRIC_HTTP_PORT=${await findFreePort()}`,
  ];
}
