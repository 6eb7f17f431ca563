import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { ImageCopy } from './image-copy.ts';
import { runProgram } from './run-program.ts';

const MANIFEST = join(import.meta.dirname, '../../deploy/agent.yaml');
/** `drop: [ALL]` and `allowPrivilegeEscalation: false`. */
const RIGHTS = ['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];

interface PodSpec {
  readonly initContainers: readonly {
    readonly name: string;
    readonly command: readonly string[];
    readonly args: readonly string[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}

/** The outcome for each name, in the order of the installer's log. */
export type InstallOutcomes = readonly { readonly to: string; readonly outcome: string }[];

/**
 * The init container of the DaemonSet: command and arguments of the manifest. Its mounts are below `host`, and
 * everything else is in the image.
 */
export async function installAsShipped(image: ImageCopy, host: string): Promise<InstallOutcomes> {
  const { initContainers, volumes } = await readPodSpec();
  const installer = initContainers.find(({ name }) => name === 'install-plugin');
  if (installer === undefined) throw new Error('the DaemonSet has no init container install-plugin');
  const places = installer.volumeMounts.map(({ name, mountPath }) => {
    const path = volumes.find((volume) => volume.name === name)?.hostPath?.path;
    if (path === undefined) throw new Error(`the volume ${name} is not of the host`);
    return { mountPath, place: join(host, path) };
  });
  for (const { place } of places) await mkdir(place, { recursive: true });
  const args = installer.args.map((arg) => {
    const mount = places.find(({ mountPath }) => arg.endsWith(`=${mountPath}`));
    return mount === undefined ? arg.replace('=/', `=${image.root}/`) : arg.replace(mount.mountPath, mount.place);
  });
  const env = { PATH: `${dirname(image.agent)}:/usr/sbin:/usr/bin:/sbin:/bin` };
  const { code, stdout, stderr } = await runProgram('setpriv', [...RIGHTS, ...installer.command, ...args], { env });
  if (code !== 0) throw new Error(`the installer ended with ${code}: ${stdout}${stderr}`);
  const lines = stdout.trim().split('\n');
  return lines.map((line) => JSON.parse(line)).map(({ to, outcome }) => ({ to, outcome }));
}

async function readPodSpec(): Promise<PodSpec> {
  const { spec } = parse(await readFile(MANIFEST, 'utf8')) as { spec: { template: { spec: PodSpec } } };
  return spec.template.spec;
}
