import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findApiBinaries } from '#test/support/api-binaries.ts';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { mustRun, runProgram } from '#test/support/run-program.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/krew');
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

interface Platform {
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

interface Plugin {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly Platform[];
  };
}

test('kubectl runs the plugin that krew installs from the archive, with the cluster of kubectl', async () => {
  await using stack = new AsyncDisposableStack();
  const dir = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-krew-')), (path) => rm(path, { recursive: true }));
  const packed = await runProgram(
    SCRIPT,
    ['--arch', ARCHITECTURE, '--from', 'https://example.test/v', '--output', dir],
    {
      timeoutMs: 230_000,
    },
  );
  expect(packed.code, packed.stderr).toBe(0);
  const plugin = parse(await readFile(join(dir, 'ipledger.yaml'), 'utf8')) as Plugin;
  expect(plugin).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'ipledger' },
    spec: { version: expect.stringMatching(/^v\d+\.\d+\.\d+$/), shortDescription: expect.stringMatching(/^.{1,50}$/) },
  });
  const [platform] = plugin.spec.platforms;
  if (platform === undefined) throw new Error('no platform');
  expect(platform.selector.matchLabels).toEqual({ os: 'linux', arch: ARCHITECTURE });
  expect(platform.uri).toBe(`https://example.test/v/ipledger-linux-${ARCHITECTURE}.tar.gz`);

  const bin = await installAsKrew(dir, platform);
  const server = stack.use(await startApiServer());
  await applyManifests(server, 'crds');
  const { kubectl } = await findApiBinaries();
  // No other Node is on the way, and no variable names the cluster.
  await mkdir(join(dir, '.kube'));
  await writeKubeconfig(join(dir, '.kube/config'), server.url, server);
  const env = { HOME: dir, PATH: `${bin}:/usr/bin:/bin` };
  expect((await runProgram(kubectl, ['plugin', 'list'], { env })).stdout).toContain(`${bin}/kubectl-ipledger`);
  const version = await runProgram(kubectl, ['ipledger', '--version'], { env });
  expect(version).toMatchObject({ code: 0, stdout: `${plugin.spec.version.slice(1)}\n` });
  const list = await runProgram(kubectl, ['ipledger', 'list', '-o', 'json'], { env });
  expect(list, list.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(list.stdout)).toMatchObject({ records: [] });
});

/** What krew does: checks the hash, copies the files that the manifest names, and links to the program. */
async function installAsKrew(dir: string, { uri, sha256, bin, files }: Platform): Promise<string> {
  const archive = join(dir, uri.slice(uri.lastIndexOf('/') + 1));
  expect(
    createHash('sha256')
      .update(await readFile(archive))
      .digest('hex'),
  ).toBe(sha256);
  const [unpacked, store, programs] = [join(dir, 'unpacked'), join(dir, 'store/ipledger'), join(dir, 'bin')];
  for (const directory of [unpacked, store, programs]) await mkdir(directory, { recursive: true });
  await mustRun('tar', '-xzf', archive, '-C', unpacked);
  for (const { from, to } of files) {
    const target = join(store, to, from);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(unpacked, from), target);
  }
  await symlink(join(store, bin), join(programs, 'kubectl-ipledger'));
  return programs;
}
