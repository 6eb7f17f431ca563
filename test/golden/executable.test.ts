import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempDisposableSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { builtPlugins } from '#test/support/built.ts';
import { bundlePlugin } from '../../hack/bundle.ts';

const env = { CNI_COMMAND: 'VERSION' };

describe.each(await builtPlugins())('%s', (path) => {
  test('all users may run it, only the owner may change it', () => {
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

  test('a closed stdout is a failure, /dev/null is not', () => {
    const run = (redirection: string) =>
      spawnSync('/bin/sh', ['-c', `"$0" </dev/null ${redirection}`, path], { env }).status;
    expect(['>&-', '>&- 2>&-', '>/dev/null', '>/dev/null 2>&-'].map(run)).toEqual([1, 1, 0, 0]);
  });

  test('a closed stdin is reported', () => {
    const { status, stdout } = spawnSync('/bin/sh', ['-c', '"$0" <&-', path], { env, encoding: 'utf8' });
    expect({ status, document: JSON.parse(stdout) }).toMatchObject({
      status: 1,
      document: { code: 5, msg: 'stdin cannot be read' },
    });
  });

  test('a spool directory that is a symbolic link is refused, with and without a slash', () => {
    const root = mkdtempSync(join(tmpdir(), 'ipledger-executable-'));
    try {
      mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
      symlinkSync(join(root, 'elsewhere'), join(root, 'spool'));
      for (const spool of ['spool', 'spool/', 'spool/.']) {
        const call = {
          CNI_COMMAND: 'DEL',
          CNI_CONTAINERID: 'c',
          CNI_IFNAME: 'eth0',
          IPLEDGER_SOCKET: join(root, 'spool', 'a', 'b'),
          IPLEDGER_SPOOL: `${root}/${spool}`,
        };
        const input = '{"cniVersion":"1.0.0","name":"net","ipam":{"type":"ipledger"}}';
        const { status, stdout } = spawnSync(path, { env: call, input, encoding: 'utf8' });
        expect(status).toBe(1);
        expect(stdout).toContain('is a symbolic link');
      }
      expect(readdirSync(join(root, 'elsewhere'))).toEqual([]);
    } finally {
      rmSync(root, { recursive: true });
    }
  }, 60_000);

  test('a variable that is not UTF-8 is refused, one with the replacement character is not', () => {
    const run = (value: string) =>
      spawnSync('/bin/sh', ['-c', `CNI_CONTAINERID="$(printf '${value}')" exec "$0"`, path], {
        env: { CNI_COMMAND: 'ADD', CNI_IFNAME: 'eth0', CNI_NETNS: '/n' },
        input: '{"cniVersion":"1.0.0","name":"net","ipam":{"type":"ipledger"}}',
        encoding: 'utf8',
      });
    const { status, stdout } = run('a\\377');
    expect({ status, document: JSON.parse(stdout) }).toMatchObject({
      status: 1,
      document: { code: 4, msg: 'CNI_CONTAINERID is not UTF-8' },
    });
    expect(JSON.parse(run('a\\357\\277\\275').stdout)).toMatchObject({
      code: 4,
      msg: expect.not.stringContaining('UTF-8'),
    });
  });

  test('a stdout that is full and never read does not block the call beyond its budget', async () => {
    using root = mkdtempDisposableSync(join(tmpdir(), 'ipledger-executable-'));
    const pipe = join(root.path, 'pipe');
    spawnSync('mkfifo', [pipe]);
    // Open for reading but never read, and filled before the plugin gets it.
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    expect(() => {
      for (;;) writeSync(filler, new Uint8Array(4096));
    }).toThrow('EAGAIN');
    const writer = openSync(pipe, constants.O_WRONLY);
    const startedMs = performance.now();
    const child = spawn(path, { env, stdio: ['ignore', writer, 'inherit'] });
    const status = await new Promise((resolve) => child.on('close', resolve));
    const tookMs = performance.now() - startedMs;
    for (const fd of [reader, filler, writer]) closeSync(fd);
    expect(status).toBe(1);
    expect(tookMs).toBeGreaterThan(9_000);
    expect(tookMs).toBeLessThan(20_000);
  }, 60_000);

  test('a reader that closed the pipe is a failure, without output on stderr', async () => {
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
