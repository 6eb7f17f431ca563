import { copyFile, cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtPath } from '#test/support/built.ts';
import { mustRun } from '#test/support/run-program.ts';
import type { ClusterPrograms } from './assets.ts';
import { SANDBOX_IMAGE } from './containerd-config.ts';
import { writeOciArchive } from './oci-archive.ts';

/** What `deploy/` names, as containerd stores a name without a registry. */
const OUR_IMAGE = 'docker.io/library/ipledger:0.1.0';

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

/** Until there is hack/image: the files of the Dockerfile's last stage, with the shell that the launchers need. */
async function writeOurImage(file: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'ipl-image-'));
  try {
    const launcher = await builtPath('ipledger-agent');
    const repository = dirname(dirname(launcher));
    const home = join(root, 'opt/ipledger');
    for (const name of ['package.json', 'node_modules/koffi', 'node_modules/@koromix'])
      await cp(join(repository, name), join(home, name), { recursive: true });
    for (const name of [
      'agent',
      'controller.js',
      'ctl.js',
      'launch.js',
      'ipledger-agent',
      'ipledger-controller',
      'ipledgerctl',
    ])
      await cp(join(repository, 'dist', name), join(home, name), { recursive: true });
    await mkdir(join(home, 'cni'), { recursive: true });
    await copyFile(await realpath(await builtPath('cni/ipledger')), join(home, 'cni/ipledger'));
    for (const program of [process.execPath, '/bin/sh', '/usr/bin/readlink', '/usr/bin/dirname', '/usr/bin/env'])
      await copyProgram(program, root);
    await mkdir(join(root, 'usr/local/bin'), { recursive: true });
    for (const name of ['ipledger-agent', 'ipledger-controller', 'ipledgerctl'])
      await symlink(`/opt/ipledger/${name}`, join(root, 'usr/local/bin', name));
    await mkdir(join(root, 'tmp'), { recursive: true });
    await writeOciArchive({ name: OUR_IMAGE, root, entrypoint: ['ipledger-agent'] }, file);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** With the libraries that it is linked against, at their own paths. */
async function copyProgram(program: string, root: string): Promise<void> {
  const libraries = (await mustRun('ldd', program)).matchAll(/(?:=> )?(?<path>\/\S+) \(0x/g);
  for (const path of [program, ...[...libraries].map(({ groups }) => groups?.['path'] ?? '')]) {
    const target = join(root, path);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(await realpath(path), target);
  }
}
