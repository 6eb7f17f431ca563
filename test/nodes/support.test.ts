import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import { kubeCalls, type Pod } from './kube-calls.ts';
import { sharedCluster } from './shared-cluster.ts';
import { until } from './until.ts';

const DAEMONS = '/api/v1/namespaces/ipledger/pods?labelSelector=app.kubernetes.io/component';

test('the archive for support has the logs and the metrics of every agent and controller, and nothing is missing', async () => {
  const { server } = sharedCluster();
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-support-')), (path) => rm(path, { recursive: true }));
  const file = join(dir, 'support.tar.gz');
  // Another test may just have replaced some.
  const pods = await until('three agents and two controllers run', async () => {
    const found = await kubeCalls(server).list<Pod>(DAEMONS);
    return found.length === 5 && found.every(({ status }) => status.phase === 'Running') ? found : null;
  });
  const words = ['support', '--file', file, `--kubeconfig=${server.kubeconfigFile}`];
  const { code, stderr } = await runProgram(await builtPath('ipledgerctl'), words, { env: launchEnvironment() });
  expect(code, stderr).toBe(0);

  await mustRun('tar', '-xzf', file, '-C', dir, '--strip-components=1');
  // The log of the container before this one is lost when a node loses its power, as it does in another test.
  const missing = (await readFile(join(dir, 'missing.txt'), 'utf8')).split('\n');
  expect(missing.filter((line) => line !== '' && !/\.previous\.log: /.test(line))).toEqual([]);
  for (const { metadata } of pods) {
    const isAgent = metadata.name.includes('agent');
    const log = join(dir, 'logs', `${metadata.name}.${isAgent ? 'agent' : 'controller'}.log`);
    expect(await mustRun('head', '-n', '1', log)).toContain('"level"');
    // A controller that does not lead has little to say.
    const metrics = await readFile(join(dir, 'metrics', `${metadata.name}.txt`), 'utf8');
    if (isAgent) expect(metrics).toContain('ipledger_agent_ready');
  }
});
