import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';

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

/** Started by its name in the image, where there is no shell (hack/oci/image-layers.ts). */
const IN_IMAGE: BuildOptions = {
  ...ESM_WITH_REQUIRE,
  banner: { js: `#!/opt/ipledger/node\n${ESM_WITH_REQUIRE.banner?.['js']}` },
};

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
  { entry: 'cmd/launch/main.ts', output: 'launch.js', isExecutable: false, options: IN_IMAGE },
  { entry: 'cmd/ctl/main.ts', output: 'ctl.js', isExecutable: false, options: IN_IMAGE },
];

const LAUNCHERS = [
  { output: 'ipledger-agent', bundle: 'launch.js', words: 'agent "$@"' },
  { output: 'ipledger-controller', bundle: 'launch.js', words: 'controller "$@"' },
  { output: 'ipledgerctl', bundle: 'ctl.js', words: '"$@"' },
];

/** Paths in dist/ that a build writes, besides the native plugin. */
export const OUTPUTS: readonly string[] = [...BUNDLES, ...LAUNCHERS].map(({ output }) => output);

/** Builds only the plugin, for tests; returns the path of its executable in `directory`. */
export async function bundlePlugin(directory: string): Promise<string> {
  const [plugin] = BUNDLES;
  if (plugin === undefined) throw new Error('no bundle is defined');
  await writeBundle(plugin, directory);
  return join(directory, plugin.output);
}

async function writeBundle({ entry, output, isExecutable, options }: Bundle, directory: string): Promise<Metafile> {
  const path = join(directory, output);
  const isInChunks = options.splitting === true;
  if (isInChunks) rmSync(dirname(path), { recursive: true, force: true }); // chunks of other builds
  const { metafile } = await build({
    bundle: true,
    metafile: true,
    absWorkingDir: ROOT,
    entryPoints: [entry],
    ...(isInChunks ? { outdir: dirname(path) } : { outfile: path }),
    logLevel: 'warning',
    ...options,
  });
  chmodSync(path, isExecutable ? 0o755 : 0o644);
  return metafile ?? { inputs: {}, outputs: {} };
}

function writeLauncher({ output, bundle, words }: (typeof LAUNCHERS)[number], directory: string): void {
  const path = join(directory, output);
  writeFileSync(
    path,
    `#!/bin/sh
set -e
dir=$(dirname -- "$(readlink -f -- "$0")")
unset NODE_OPTIONS
exec '${process.execPath}' "$dir/${bundle}" ${words}
`,
  );
  chmodSync(path, 0o755);
}

async function bundleAll(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const packages = new Set<string | undefined>();
  for (const bundle of BUNDLES) {
    if (!existsSync(join(ROOT, bundle.entry))) {
      console.log(`skipped ${bundle.output}: ${bundle.entry} is not written yet`);
      continue;
    }
    const { inputs } = await writeBundle(bundle, directory);
    for (const path of Object.keys(inputs)) packages.add(packageOf(path));
    report(join(directory, bundle.output), bundle.entry);
  }
  for (const launcher of LAUNCHERS) {
    writeLauncher(launcher, directory);
    report(join(directory, launcher.output), process.execPath);
  }
  const bundled = { packages: [...packages].filter((it) => it !== undefined).sort() };
  writeFileSync(join(directory, 'bundled.json'), `${JSON.stringify(bundled, null, 2)}\n`);
}

/** The key in package-lock.json of the package that a file is part of. */
const packageOf = (path: string): string | undefined => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0];

function report(path: string, from: string): void {
  console.log(`${(statSync(path).size / 1024).toFixed(1).padStart(8)} kB  ${path}  (${from})`);
}

if (import.meta.main) await bundleAll(join(dirname(import.meta.dirname), 'dist'));
