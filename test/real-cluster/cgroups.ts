import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** One directory in every hierarchy, with its parents. */
export async function makeCgroup(name: string): Promise<void> {
  const parts = name.split('/');
  for (const root of await listHierarchies())
    for (let depth = 1; depth <= parts.length; depth += 1) await makeIn(root, join(root, ...parts.slice(0, depth)));
}

/** The words before a command that is to run in the cgroup. The shell moves itself, and then becomes the command. */
export async function inCgroup(name: string): Promise<string[]> {
  const files = (await listHierarchies()).map((root) => join(root, name, 'cgroup.procs'));
  return ['bash', '-euc', `for file in ${files.join(' ')}; do echo 0 >"$file"; done; exec "$@"`, 'bash'];
}

/** Removes it and everything below; its processes must have ended. */
export async function removeCgroup(name: string): Promise<void> {
  for (const root of await listHierarchies()) await removeTree(join(root, name));
}

export async function listCgroups(prefix: string): Promise<string[]> {
  const found = await Promise.all((await listHierarchies()).map((root) => readdir(root)));
  return [...new Set(found.flat())].filter((name) => name.startsWith(prefix));
}

async function listHierarchies(): Promise<string[]> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  return mounts.flatMap(([, place = '', type]) => (type === 'cgroup' || type === 'cgroup2' ? [place] : []));
}

/** In version 1 a new cpuset has no processors and no memory, and nothing can run in it. */
async function makeIn(root: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const value = await readFile(join(root, file), 'utf8').catch(() => '');
    if (value.trim() !== '') await writeFile(join(directory, file), value.trim());
  }
}

async function removeTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(directory, entry.name));
  for (let tries = 0; tries < 200; tries += 1) {
    try {
      return await rmdir(directory);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return;
      // The kernel is still at work with processes that have just ended.
      if ((thrown as NodeJS.ErrnoException).code !== 'EBUSY') throw thrown;
      await sleep(25);
    }
  }
  throw new Error(`the cgroup ${directory} is still busy`);
}
