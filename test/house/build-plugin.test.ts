import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
/** The sources of a bundle and the script. A stand-in replaces cargo, since only the bundle is checked. */
const ROOMS = ['hack', 'cmd', 'plugin', 'pkg', 'agent', 'controller', 'ctl'];
const PARTS = [...ROOMS, 'package.json', 'package-lock.json', 'tsconfig.json'];
let tree = '';

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'ipledger-build-'));
  for (const part of PARTS) cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  utimesSync(join(tree, 'package-lock.json'), 0, 0);
  writeFileSync(join(tree, 'cargo'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  writeFileSync(join(tree, 'rustc'), `#!/bin/sh\necho ${tree}\n`, { mode: 0o755 });
  writeFileSync(join(tree, 'musl-gcc'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  const target = join(
    tree,
    'lib/rustlib',
    `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`,
    'lib',
  );
  spawnSync('mkdir', ['-p', target]);
});
afterAll(() => rmSync(tree, { recursive: true }));

/** Whether the script built a new bundle. */
function bundles(): boolean {
  const env = { ...process.env, PATH: `${tree}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(join(tree, 'hack/build-plugin'), ['--test'], { env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.includes('bundling dist/plugin.neutral.js');
}

test('a bundle is built again when it or its sources changed, whatever the file times are', () => {
  expect(bundles()).toBe(true);
  expect(bundles()).toBe(false);

  const source = join(tree, 'plugin/run.ts');
  const { atime, mtime } = statSync(source);
  writeFileSync(source, readFileSync(source, 'utf8').replace('supportedVersions:', 'otherVersions:'));
  utimesSync(source, atime, mtime);
  expect(bundles()).toBe(true);
  expect(readFileSync(join(tree, 'dist/plugin.neutral.js'), 'utf8')).toContain('otherVersions');

  const later = new Date(Date.now() + 60_000);
  utimesSync(source, later, later);
  expect(bundles()).toBe(false);

  writeFileSync(join(tree, 'dist/plugin.neutral.js'), 'something else');
  expect(bundles()).toBe(true);
}, 120_000);
