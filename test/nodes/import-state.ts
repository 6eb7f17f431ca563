import type { ServerPlace } from '#test/support/api-server.ts';
import { builtPath, launchEnvironment } from '#test/support/built.ts';
import { type Finished, runProgram } from '#test/support/run-program.ts';

/** `ipledgerctl import`, with the rights of an administrator. */
export async function importState(server: ServerPlace): Promise<Finished> {
  const args = ['import', `--kubeconfig=${server.kubeconfigFile}`];
  return await runProgram(await builtPath('ipledgerctl'), args, { env: launchEnvironment() });
}
