import { appendFile, cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { builtPath } from './built.ts';

/** The agent's files of the image, at their paths below `root`. */
export interface ImageCopy extends AsyncDisposable {
  readonly root: string;
  readonly agent: string;
  readonly plugin: string;
}

/** `build` is appended to the plugin, where it has no effect, so that two builds are different files. */
export async function copyImage(build: string): Promise<ImageCopy> {
  const root = await mkdtemp(join(tmpdir(), 'ipl-image-'));
  const image = {
    root,
    agent: join(root, 'usr/local/bin/ipledger-agent'),
    plugin: join(root, 'opt/ipledger/cni/ipledger'),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
  try {
    await fill(image);
    await appendFile(image.plugin, `\n// ${build}\n`);
    return image;
  } catch (thrown) {
    await image[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** As in the Dockerfile. */
async function fill({ root, agent, plugin }: ImageCopy): Promise<void> {
  const home = join(root, 'opt/ipledger');
  const launcher = await builtPath('ipledger-agent');
  const repository = dirname(dirname(launcher));
  for (const name of ['package.json', 'node_modules/koffi', 'node_modules/@koromix']) {
    await cp(join(repository, name), join(home, name), { recursive: true });
  }
  await cp(join(repository, 'dist/agent'), join(home, 'agent'), { recursive: true });
  await cp(join(repository, 'dist/launch.js'), join(home, 'launch.js'));
  await cp(launcher, join(home, 'ipledger-agent'));
  await cp(await realpath(await builtPath('cni/ipledger')), plugin);
  await mkdir(dirname(agent), { recursive: true });
  await symlink(join(home, 'ipledger-agent'), agent);
}
