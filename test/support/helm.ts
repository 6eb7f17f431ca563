import { join } from 'node:path';
import type { ServerPlace } from './api-server.ts';
import { type Finished, mustRun, runProgram } from './run-program.ts';

const ROOT = join(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'deploy/chart');
export const CRD_CHART = join(ROOT, 'deploy/chart-crds');
/** Longer than helm itself waits for a hook. */
const TIMEOUT_MS = 400_000;

/** Never builds, because a test that waits minutes for a compiler seems to hang. */
export async function findHelm(): Promise<string> {
  return join((await mustRun(join(ROOT, 'hack/helm-assets'), '--no-build')).trim(), 'helm');
}

/** Runs helm with the rights of an administrator, in the namespace of ipledger unless the words name another. */
export async function runHelm(server: ServerPlace, ...words: readonly string[]): Promise<Finished> {
  const flags = ['--namespace=ipledger', `--kubeconfig=${server.kubeconfigFile}`];
  return await runProgram(await findHelm(), [...flags, ...words], { timeoutMs: TIMEOUT_MS });
}

export async function mustHelm(server: ServerPlace, ...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHelm(server, ...words);
  if (code !== 0) throw new Error(`helm ${words.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
