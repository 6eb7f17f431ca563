import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunAlive } from '#test/support/run-owner.ts';
import { listCgroups, removeCgroup } from './cgroups.ts';

/** Directories and cgroups of a cluster have this name, then pid and start time of their owner. */
export const RUN_PREFIX = 'ipledger-cluster-';

/** What a killed run could not remove: its processes, links and mounts ended with it, directories and cgroups did not. */
export async function removeLeftovers(): Promise<void> {
  for (const name of await listCgroups(RUN_PREFIX)) if (await isLeft(name)) await removeCgroup(name);
  for (const name of await readdir(tmpdir())) {
    if (name.startsWith(RUN_PREFIX) && (await isLeft(name)))
      await rm(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 });
  }
}

const isLeft = async (name: string) => !(await isRunAlive(name.slice(RUN_PREFIX.length)));
