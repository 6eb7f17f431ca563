import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KUBELET_SYSCTLS } from './kubelet-config.ts';

/** The directories of a node that outlive its crash, and the files that stand for those of the shared kernel. */
export interface NodeDisk {
  readonly dir: string;
  /** Writes a file of the node, by its path there: below /etc, /opt or /var. */
  write(path: string, text: string): Promise<void>;
  install(program: string, path: string): Promise<void>;
  /** A bash script that makes the disk the node's own, in a new mount namespace. */
  readonly mounts: string;
}

const DIRECTORIES = ['etc/cni/net.d', 'etc/containerd', 'opt/cni/bin', 'var/lib', 'var/log', 'var/tmp'];

export async function prepareDisk(dir: string, name: string): Promise<NodeDisk> {
  for (const directory of DIRECTORIES) await mkdir(join(dir, directory), { recursive: true });
  await symlink('/run', join(dir, 'var/run'));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  await write('etc/hostname', `${name}\n`);
  await write('etc/hosts', `127.0.0.1 localhost\n`);
  await write('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
  await write('etc/group', 'root:x:0:\n');
  await write('etc/machine-id', `${randomBytes(16).toString('hex')}\n`);
  return { dir, write, install: (program, path) => copyFile(program, join(dir, path)), mounts: mountScript(dir, name) };
}

function mountScript(dir: string, name: string): string {
  const sysctls = Object.entries(KUBELET_SYSCTLS).map(
    ([key, value]) => `own /proc/sys/${key} ${key.replaceAll('/', '-')} ${value}`,
  );
  return `
hostname ${name}
for part in etc opt var; do mount --bind ${dir}/$part /$part; done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lock /run/own
own() { echo "$3" >"/run/own/$2" && mount --bind "/run/own/$2" "$1"; }
${sysctls.join('\n')}
own /proc/sys/kernel/random/boot_id boot-id "$(cat /proc/sys/kernel/random/uuid)"
mount --make-rshared /
ip link set lo up
`;
}
