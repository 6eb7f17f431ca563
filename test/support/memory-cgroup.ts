import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface MemoryCgroup extends AsyncDisposable {
  /** Put before a program and its arguments: it runs with the limit. */
  readonly under: readonly string[];
}

/** A cgroup with a memory limit, in version 1 or 2, whichever this host has. Needs root. */
export async function makeMemoryCgroup(bytes: number): Promise<MemoryCgroup> {
  const legacy = '/sys/fs/cgroup/memory';
  const isLegacy = existsSync(join(legacy, 'memory.limit_in_bytes'));
  const parent = isLegacy ? legacy : '/sys/fs/cgroup';
  if (!isLegacy) await writeFile(join(parent, 'cgroup.subtree_control'), '+memory');
  const directory = join(parent, `ipl-test-${process.pid}`);
  await mkdir(directory);
  await writeFile(join(directory, isLegacy ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
  return {
    under: ['sh', '-c', `echo $$ > ${join(directory, 'cgroup.procs')}; exec "$@"`, 'sh'],
    [Symbol.asyncDispose]: () => rmdir(directory),
  };
}
