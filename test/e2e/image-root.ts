import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Finished, mustRun, runProgram } from '#test/support/run-program.ts';

const IN_ROOT = `set -e; user=$1; shift 1; mkdir -p "$0/proc"; mount -t proc proc "$0/proc"
exec env -i PATH=/usr/sbin:/usr/bin chroot --userspec="$user" "$0" "$@"`;
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/** Long enough for a build from nothing on a busy machine. */
const TIMEOUT_MS = 1_800_000;

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

export interface ImageConfig {
  readonly config: { readonly User: string; readonly Labels: Readonly<Record<string, string>> };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** An archive of hack/image, taken apart by other programs than those that made it. */
export interface Archive extends AsyncDisposable {
  readonly blobs: readonly string[];
  readonly name: string;
  readonly manifest: (architecture: string) => Promise<Manifest>;
  readonly json: <T>(digest: string) => Promise<T>;
  readonly bytes: (digest: string) => Promise<Buffer>;
  /** Unpacks the image below a new directory. */
  readonly unpack: (architecture: string) => Promise<Root>;
}

/** A root directory in which programs run as in a container: no other files and no other processes. */
export interface Root extends AsyncDisposable {
  readonly path: string;
  readonly run: (words: readonly string[], user?: string) => Promise<Finished>;
  /** The words with which a program is started there. */
  readonly under: (user?: string) => readonly string[];
}

export async function makeImage(...flags: readonly string[]): Promise<Archive> {
  return await makeImageOf(REPOSITORY, flags);
}

/** `env`: more variables than this process has. */
export async function makeImageOf(
  repository: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Archive> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-oci-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const archive = join(directory, 'image.tar');
    const { code, stderr } = await runProgram(join(repository, 'hack/image'), ['--output', archive, ...flags], {
      env: { ...(process.env as Record<string, string>), ...env },
      timeoutMs: TIMEOUT_MS,
    });
    if (code !== 0) throw new Error(`hack/image ended with ${code}: ${stderr}`);
    await mustRun('tar', '-xf', archive, '-C', directory);
    await rm(archive);
    return await openArchive(directory, remove);
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

/** The files of the repository as they are now, in another directory and at another depth, without anything that was built. */
export async function copyRepository(): Promise<AsyncDisposable & { readonly path: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-elsewhere-'));
  const path = join(directory, 'another/place');
  const copy = `mkdir -p "$1" && cd "$0" && git ls-files --cached --others --exclude-standard --deduplicate -z |
    while IFS= read -rd '' file; do [[ ! -e $file ]] || printf '%s\\0' "$file"; done | tar --null -cT - | tar -xC "$1"`;
  await mustRun('bash', '-euo', 'pipefail', '-c', copy, REPOSITORY, path);
  return { path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

/** An unpacked OCI layout. Its top is an index over processors, or the manifest of the only one. */
export async function openArchive(directory: string, remove = async () => {}): Promise<Archive> {
  const pathOf = (digest: string) => join(directory, 'blobs', digest.replace(':', '/'));
  const bytes = (digest: string) => readFile(pathOf(digest));
  const json = async <T>(digest: string) => JSON.parse((await bytes(digest)).toString()) as T;
  const layout = JSON.parse(await readFile(join(directory, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const [top] = layout.manifests;
  if (top === undefined) throw new Error('the archive has no image');
  const { manifests } = await json<{ manifests?: readonly Descriptor[] }>(top.digest);
  const manifest = async (architecture: string) => {
    if (manifests === undefined) return await json<Manifest>(top.digest);
    const found = manifests.find(({ platform }) => platform?.architecture === architecture);
    if (found === undefined) throw new Error(`the archive has no image for ${architecture}`);
    return await json<Manifest>(found.digest);
  };
  return {
    blobs: (await readdir(join(directory, 'blobs/sha256'))).sort(),
    name: top.annotations?.['io.containerd.image.name'] ?? '',
    manifest,
    json,
    bytes,
    unpack: async (architecture) =>
      await unpack((await manifest(architecture)).layers.map(({ digest }) => pathOf(digest))),
    [Symbol.asyncDispose]: remove,
  };
}

async function unpack(layers: readonly string[]): Promise<Root> {
  const path = await mkdtemp(join(tmpdir(), 'ipl-root-'));
  await chmod(path, 0o755);
  for (const layer of layers) await mustRun('tar', '-xpf', layer, '-C', path);
  const under = (user = '0:0') => [
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    'sh',
    '-c',
    IN_ROOT,
    path,
    user,
  ];
  return {
    path,
    under,
    run: (words, user) => {
      const [program = '', ...rest] = [...under(user), ...words];
      return runProgram(program, rest);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
