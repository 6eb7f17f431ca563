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

/** The path of something built; throws when it is missing or older than its sources, so that nothing stale is tested. */
export async function builtPath(artifact: Artifact): Promise<string> {
  fresh ??= throwIfStale();
  await fresh;
  return fromRoot(`dist/${artifact}`);
}

/** The plugin in every form that can be built here; without a Rust toolchain that is Node's alone, and it says so. */
export async function builtPlugins(): Promise<string[]> {
  const node = await builtPath('node/ipledger');
  const { code } = await runProgram('bash', ['-c', `source '${fromRoot('hack/lib.sh')}' && has_cargo`]);
  if (code === 0) return [node, await builtPath('native/ipledger')];
  process.stderr.write('No Rust toolchain here: the native plugin is not tested.\n');
  return [node];
}

/** What a launcher of ours needs to run: this repository's Node first in PATH, and nothing of the test runner's own. */
export function launchEnvironment(): Record<string, string> {
  const path = process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin';
  return { PATH: `${fromRoot('node_modules/.bin')}:${path}` };
}

async function throwIfStale(): Promise<void> {
  const { code, stdout, stderr } = await runProgram(fromRoot('hack/build'), ['--check']);
  if (code !== 0) throw new Error(`What is in dist/ cannot be tested: ${`${stdout}${stderr}`.trim()} Run ./hack/build`);
}
