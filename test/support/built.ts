import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';

type Artifact =
  | 'cni/ipledger'
  | 'native/ipledger'
  | 'node/ipledger'
  | 'ipledger-agent'
  | 'ipledger-controller'
  | 'ipledgerctl';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

let fresh: Promise<void> | undefined;

/** The path of a build result; throws when it is missing or older than its sources. */
export async function builtPath(artifact: Artifact): Promise<string> {
  fresh ??= throwIfStale();
  await fresh;
  return fromRoot(`dist/${artifact}`);
}

/** The plugin in every form that can be built here; without a Rust toolchain only the Node form, with a message. */
export async function builtPlugins(): Promise<string[]> {
  const node = await builtPath('node/ipledger');
  const { code } = await runProgram('bash', ['-c', `source '${fromRoot('hack/lib.sh')}' && has_cargo`]);
  if (code === 0) return [node, await builtPath('native/ipledger')];
  process.stderr.write('No Rust toolchain here: the native plugin is not tested.\n');
  return [node];
}

/** The environment for our launchers: this repository's Node first in PATH, and no variable of the test runner. */
export function launchEnvironment(): Record<string, string> {
  const path = process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin';
  return { PATH: `${fromRoot('node_modules/.bin')}:${path}` };
}

async function throwIfStale(): Promise<void> {
  const { code, stdout, stderr } = await runProgram(fromRoot('hack/build'), ['--check']);
  if (code !== 0) throw new Error(`What is in dist/ cannot be tested: ${`${stdout}${stderr}`.trim()} Run ./hack/build`);
}
