import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
  for (const cpu of ['aarch64', 'x86_64']) {
    mkdirSync(join(tree, 'lib/rustlib', `${cpu}-unknown-linux-musl`, 'lib'), { recursive: true });
  }
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
});

/** A Python without pip until apt-get has installed it. Its pip makes a zig that does nothing. */
const PYTHON = `#!/bin/sh
[ -e "$STAND_INS/pip" ] || exit 1
[ "$3" = install ] || exit 0
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/ziglang" && ln -s /bin/true "$2/ziglang/zig"
`;
const APT_GET = `#!/bin/sh
case "$*" in *install*python3-pip*) touch "$STAND_INS/pip" ;; esac
`;

test('for another processor it installs pip where Python has none, because zig comes by pip', () => {
  const standIns = join(tree, 'stand-ins');
  mkdirSync(standIns);
  const programs = { python3: PYTHON, 'apt-get': APT_GET, sudo: '#!/bin/sh\nexec "$@"\n' };
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(standIns, name), text, { mode: 0o755 });
  const env = {
    ...process.env,
    STAND_INS: standIns,
    XDG_CACHE_HOME: standIns,
    PATH: `${standIns}:${tree}:${process.env['PATH']}`,
  };
  const other = process.arch === 'arm64' ? 'amd64' : 'arm64';
  const words = ['--arch', other, '--test'];
  const { status, stdout, stderr } = spawnSync(join(tree, 'hack/build-plugin'), words, { env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('installing the Debian package python3-pip');
});
