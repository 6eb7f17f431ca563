import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const ROOMS = /^(plugin|plugin\/node|pkg\/cni|pkg\/agentapi|pkg\/errors|cmd\/plugin)\/[^/]+\.ts$/;
/** The Node adapter of PluginIo; everything else must also run on bare QuickJS. */
const NODE_ADAPTER = /^(plugin\/node\/[^/]+|cmd\/plugin\/main)\.ts$/;
/** The adapter for the Rust host is written for its engine, which has more than ES2023. */
const HOST_ADAPTER = /^(plugin\/host-io|cmd\/plugin\/host-main)\.ts$/;

const { metafile } = await build({
  entryPoints: ['cmd/plugin/main.ts', 'cmd/plugin/host-main.ts'],
  absWorkingDir: ROOT,
  bundle: true,
  outdir: 'dist',
  write: false,
  metafile: true,
  platform: 'node',
  format: 'esm',
});
const inputs = Object.entries(metafile.inputs);
const neutral = inputs.map(([path]) => path).filter((path) => !NODE_ADAPTER.test(path) && !HOST_ADAPTER.test(path));

test('the bundle of the plugin contains only its own rooms', () => {
  expect(inputs.map(([path]) => path).filter((path) => !ROOMS.test(path))).toEqual([]);
});

test("Node's modules are imported by the Node adapter only", () => {
  const importers = inputs.filter(([, { imports }]) => imports.some(({ external }) => external)).map(([path]) => path);
  expect(importers).not.toEqual([]);
  expect(importers.filter((path) => !NODE_ADAPTER.test(path))).toEqual([]);
});

test('the neutral files compile without any global of Node or a browser', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ipledger-neutral-'));
  const project = join(directory, 'tsconfig.json');
  const compilerOptions = { target: 'es2023', lib: ['es2023'], types: [] };
  const files = neutral.map((path) => join(ROOT, path));
  writeFileSync(
    project,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [], exclude: [] }),
  );
  try {
    expect(neutral).toContain('plugin/run.ts');
    const run = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--project', project]);
    const { stdout } = await run.catch((failed: { stdout: string }) => failed);
    expect(stdout).toBe('');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
