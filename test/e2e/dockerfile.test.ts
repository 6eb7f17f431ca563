import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mustRun, runProgram } from '#test/support/run-program.ts';
import { type ImageConfig, makeImage, openArchive } from './image-root.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Long enough for a build from nothing on a busy machine. */
const TIMEOUT_MS = 1_800_000;

/** Path, kind, mode and size of everything below, and the digests of all files. */
const LISTING = `cd "$0"
find . -mindepth 1 \\( -type f -printf '%P %m %s\\n' -o -type l -printf '%P -> %l\\n' -o -type d -printf '%P/ %m\\n' \\) | LC_ALL=C sort
find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum`;
const list = (root: string) => mustRun('bash', '-euo', 'pipefail', '-c', LISTING, root);

/** Its first stages need an engine that fetches images; the last one says what is in the image, and needs nothing but its files. */
async function buildLastStage(directory: string): Promise<string> {
  const at = (name: string) => join(directory, name);
  const made = await runProgram(join(ROOT, 'hack/image'), ['--root', at('image'), '--arch', 'amd64'], {
    timeoutMs: TIMEOUT_MS,
  });
  expect(made.code, made.stderr).toBe(0);
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  await writeFile(at('Dockerfile'), dockerfile.slice(dockerfile.indexOf('FROM scratch')));
  await mkdir(at('empty'));
  await mkdir(at('built'));
  const storage = ['--root', at('store'), '--runroot', at('run'), '--storage-driver', 'vfs'];
  const stage = ['--isolation', 'chroot', '--timestamp', '0', '--build-context', `build=${directory}`];
  const output = ['--build-arg', 'REVISION=1234', '--file', at('Dockerfile'), '--tag', `oci:${at('built')}`];
  const built = await runProgram('buildah', [...storage, 'build', ...stage, ...output, at('empty')], {
    timeoutMs: TIMEOUT_MS,
  });
  expect(built.code, built.stderr).toBe(0);
  return at('built');
}

test(
  'the Dockerfile makes the image of hack/image: the same files, settings and labels',
  async () => {
    await using stack = new AsyncDisposableStack();
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-dockerfile-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    const ours = stack.use(await makeImage('--arch', 'amd64'));
    const theirs = stack.use(await openArchive(await buildLastStage(directory)));
    const [ourConfig, theirConfig] = await Promise.all(
      [ours, theirs].map(async (it) => (await it.json<ImageConfig>((await it.manifest('amd64')).config.digest)).config),
    );
    const { Labels: ourLabels, ...ourSettings } = ourConfig as ImageConfig['config'];
    const { Labels: theirLabels, ...theirSettings } = theirConfig as ImageConfig['config'];
    expect(theirSettings).toEqual(ourSettings);
    const { 'org.opencontainers.image.created': _created, ...named } = ourLabels;
    const { 'io.buildah.version': _tool, ...theirNamed } = theirLabels;
    expect(theirNamed).toEqual({ ...named, 'org.opencontainers.image.revision': '1234' });
    const [ourRoot, theirRoot] = [stack.use(await ours.unpack('amd64')), stack.use(await theirs.unpack('amd64'))];
    expect(await list(theirRoot.path)).toBe(await list(ourRoot.path));
  },
  TIMEOUT_MS,
);
