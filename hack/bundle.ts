import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { Daemon } from '#pkg/memory/heap-size.ts';

const ROOT = join(import.meta.dirname, '..');

interface Bundle {
  readonly entry: string;
  readonly output: string;
  readonly isExecutable: boolean;
  readonly options: BuildOptions;
}

/** Dependencies that are CommonJS inside still call `require` for Node's own modules. */
const ESM_WITH_REQUIRE: BuildOptions = {
  platform: 'node',
  // A native module: it is loaded from where it is installed.
  external: ['koffi'],
  format: 'esm',
  target: 'node24',
  banner: {
    js: "import { createRequire as bundleRequire } from 'node:module';\nconst require = bundleRequire(import.meta.url);",
  },
};

/**
 * A shell script that is JavaScript too. Node opens /dev/null in place of a closed standard stream. The shell runs
 * first and opens something there that fails like the closed stream.
 */
const NODE_START = `#!/bin/sh
':' //; [ -e /proc/$$/fd/0 ] || exec 0>/dev/null
':' //; [ -e /proc/$$/fd/1 ] || exec 1</dev/null
':' //; exec '${process.execPath}' "$0" "$@"`;

/** Code that is imported on demand is in a file of its own, beside the first one. */
const IN_CHUNKS: BuildOptions = { ...ESM_WITH_REQUIRE, splitting: true };

/**
 * An executable without extension is CommonJS or a module depending on the package.json above the place where it is
 * installed. `getBuiltinModule` stands in for `require` in both.
 */
const NODE_EXECUTABLE: BuildOptions = {
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  minify: true,
  banner: { js: `${NODE_START}\nvar require = process.getBuiltinModule;` },
};

/** The host compiles it to bytecode (plugin/host/build.rs). */
const QUICKJS: BuildOptions = { platform: 'neutral', format: 'esm', target: 'es2023', minify: true };

const BUNDLES: readonly Bundle[] = [
  { entry: 'cmd/plugin/main.ts', output: 'node/ipledger', isExecutable: true, options: NODE_EXECUTABLE },
  { entry: 'cmd/plugin/host-main.ts', output: 'plugin.neutral.js', isExecutable: false, options: QUICKJS },
  { entry: 'cmd/agent/main.ts', output: 'agent/main.js', isExecutable: false, options: IN_CHUNKS },
  { entry: 'cmd/controller/main.ts', output: 'controller.js', isExecutable: false, options: ESM_WITH_REQUIRE },
  { entry: 'cmd/heap/main.ts', output: 'heap.js', isExecutable: false, options: ESM_WITH_REQUIRE },
  { entry: 'cmd/ctl/main.ts', output: 'ctl.js', isExecutable: false, options: ESM_WITH_REQUIRE },
];

/**
 * Little space for new objects, because the daemons are idle most of the time. The space for old ones follows the memory limit
 * (docs/adr/0044-heap-from-the-memory-limit.md).
 */
const daemonFlags = (name: Daemon) => ({
  flags: '--max-semi-space-size=2 "--max-old-space-size=$heap"',
  before: `export MALLOC_ARENA_MAX=2\nheap=$("$node" "$dir/heap.js" ${name})\n`,
});

const LAUNCHERS = [
  { output: 'ipledger-agent', bundle: 'agent/main.js', ...daemonFlags('agent') },
  { output: 'ipledger-controller', bundle: 'controller.js', ...daemonFlags('controller') },
  { output: 'ipledgerctl', bundle: 'ctl.js', flags: '', before: '' },
];

/** Paths in dist/ that a build writes, besides the native plugin. */
export const OUTPUTS: readonly string[] = [...BUNDLES, ...LAUNCHERS].map(({ output }) => output);

/** The path of Node in the launchers: this one, unless the programs will run on another machine. */
const LAUNCHER_NODE = process.env['LAUNCHER_NODE'] || process.execPath;

/** Builds only the plugin, for tests; returns the path of its executable in `directory`. */
export async function bundlePlugin(directory: string): Promise<string> {
  const [plugin] = BUNDLES;
  if (plugin === undefined) throw new Error('no bundle is defined');
  await writeBundle(plugin, directory);
  return join(directory, plugin.output);
}

async function writeBundle({ entry, output, isExecutable, options }: Bundle, directory: string): Promise<void> {
  const path = join(directory, output);
  const isInChunks = options.splitting === true;
  if (isInChunks) rmSync(dirname(path), { recursive: true, force: true }); // chunks of other builds
  await build({
    bundle: true,
    absWorkingDir: ROOT,
    entryPoints: [entry],
    ...(isInChunks ? { outdir: dirname(path) } : { outfile: path }),
    logLevel: 'warning',
    ...options,
  });
  chmodSync(path, isExecutable ? 0o755 : 0o644);
}

function writeLauncher({ output, bundle, flags, before }: (typeof LAUNCHERS)[number], directory: string): void {
  const path = join(directory, output);
  const program = ['"$node"', flags, `"$dir/${bundle}"`, '"$@"'].filter((word) => word !== '').join(' ');
  writeFileSync(
    path,
    `#!/bin/sh
set -e
node='${LAUNCHER_NODE}'
dir=$(dirname -- "$(readlink -f -- "$0")")
unset NODE_OPTIONS
${before}exec ${program}
`,
  );
  chmodSync(path, 0o755);
}

async function bundleAll(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  for (const bundle of BUNDLES) {
    if (!existsSync(join(ROOT, bundle.entry))) {
      console.log(`skipped ${bundle.output}: ${bundle.entry} is not written yet`);
      continue;
    }
    await writeBundle(bundle, directory);
    report(join(directory, bundle.output), bundle.entry);
  }
  for (const launcher of LAUNCHERS) {
    writeLauncher(launcher, directory);
    report(join(directory, launcher.output), `${launcher.bundle} on ${LAUNCHER_NODE}`);
  }
}

function report(path: string, from: string): void {
  console.log(`${(statSync(path).size / 1024).toFixed(1).padStart(8)} kB  ${path}  (${from})`);
}

if (import.meta.main) await bundleAll(join(dirname(import.meta.dirname), 'dist'));
