import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtPlugins } from '#test/support/built.ts';
import { bundlePlugin } from '../../hack/bundle.ts';

const env = { CNI_COMMAND: 'VERSION' };

describe.each(await builtPlugins())('%s', (path) => {
  test('everybody may run it, nobody but the owner may change it', () => {
    expect(statSync(path).mode & 0o777).toBe(0o755);
  });

  test('it starts without PATH', () => {
    const { status, stdout, stderr } = spawnSync(path, { env, input: '', encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toHaveProperty('supportedVersions');
  });

  test('a full disk behind stdout is a failure', () => {
    expect(spawnSync(path, { env, stdio: ['ignore', openSync('/dev/full', 'w'), 'inherit'] }).status).toBe(1);
  });

  test('a reader that went away is a failure, without a word on stderr', async () => {
    const child = spawn(path, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdout.destroy();
    setTimeout(() => child.stdin.end(), 200);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const status = await new Promise((resolve) => child.on('close', resolve));
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  });
});

test.each(['{}', '{"type":"module"}', '{"type":"commonjs"}'])(
  'the form on Node starts under a package.json of %s',
  async (manifest) => {
    const directory = mkdtempSync(join(tmpdir(), 'ipledger-executable-'));
    try {
      writeFileSync(join(directory, 'package.json'), manifest);
      const path = await bundlePlugin(directory);
      const { status, stdout, stderr } = spawnSync(path, { env, input: '', encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(JSON.parse(stdout)).toHaveProperty('supportedVersions');
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
