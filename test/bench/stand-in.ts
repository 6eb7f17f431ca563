import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from './stand-in-api.ts';

export interface StandIn extends AsyncDisposable {
  readonly kubeconfig: string;
  /** Resolves when it is done. */
  ask(command: Command): Promise<void>;
}

/** `deployments`: each with ten ReplicaSets. */
export async function startStandIn(count: number, deployments = 0): Promise<StandIn> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-size-'));
  const child = fork(join(import.meta.dirname, 'stand-in-api.ts'), [String(count), String(deployments)]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const kubeconfig = join(directory, 'kubeconfig.json');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'none' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return {
    kubeconfig,
    ask: async (command) => {
      const answered = once(child, 'message');
      child.send(command);
      await answered;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
