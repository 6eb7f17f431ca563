import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '#test/support/run-program.ts';
import type { ClusterPrograms } from './assets.ts';
import { SANDBOX_IMAGE } from './containerd-config.ts';
import { writeOciArchive } from './oci-archive.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/image');
/** The first time it fetches Node and some packages, and compresses them. */
const TIMEOUT_MS = 600_000;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The files to import on every node. */
export async function prepareImages(programs: ClusterPrograms, dir: string): Promise<string[]> {
  const [pause, ours] = [join(dir, 'pause.tar'), join(dir, 'ipledger.tar')];
  await Promise.all([writePauseImage(programs, pause), writeOurImage(ours)]);
  return [pause, ours];
}

async function writePauseImage(programs: ClusterPrograms, file: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'ipl-image-'));
  try {
    await copyFile(join(programs.dir, 'pause'), join(root, 'pause'));
    await writeOciArchive({ name: SANDBOX_IMAGE, root, entrypoint: ['/pause'] }, file);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The image that is shipped, for this machine. */
async function writeOurImage(file: string): Promise<void> {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const args = ['--arch', architecture, '--output', file];
  const { code, stdout, stderr } = await runProgram(SCRIPT, args, { timeoutMs: TIMEOUT_MS });
  if (code !== 0) throw new Error(`hack/image ended with ${code}: ${stdout}${stderr}`);
}
