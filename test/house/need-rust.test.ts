import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** All that these scripts may use before they look for Rust: neither npm nor apt-get. */
const PROGRAMS = ['bash', 'basename', 'dirname', 'cat', 'rm'];
let path = '';

beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'ipledger-no-rust-'));
  for (const name of PROGRAMS) symlinkSync(join('/usr/bin', name), join(path, name));
});
afterAll(() => rmSync(path, { recursive: true }));

test.each([
  { script: 'hack/test', last: '0 passed, 1 failed\n' },
  { script: 'hack/image', last: '' },
])('$script says before anything else that it needs Rust, and how to get it', ({ script, last }) => {
  const env = { PATH: path, HOME: path };
  const { status, stdout, stderr } = spawnSync('/usr/bin/bash', [join(ROOT, script)], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/no Rust toolchain \(cargo\) here\. rustup installs one/);
  expect(stderr).toContain('https://sh.rustup.rs');
  expect(stdout.trimStart()).toBe(last);
});
