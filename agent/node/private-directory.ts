import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Makes a directory and its missing parents (0700). Not Node's recursive mkdir: that never ends below /proc. */
export async function makeDirectory(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = path; !(await exists(at)) && at !== dirname(at); at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    await mkdir(directory, { mode: 0o700 }).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'EEXIST') return;
      throw new IpamError('bad-config', `the directory ${directory} cannot be made: ${toIpamError(thrown).message}`);
    });
  }
}

/** What others may change cannot be trusted by root. */
export async function refuseForeignDirectory(path: string): Promise<void> {
  const stats = await lstat(path);
  if (!stats.isDirectory()) throw new IpamError('bad-config', `${path} is not a directory`);
  const isOurs = stats.uid === process.geteuid?.() || stats.uid === 0;
  if (isOurs && (stats.mode & WRITABLE_BY_OTHERS) === 0) return;
  const mode = (stats.mode & 0o7777).toString(8);
  throw new IpamError(
    'bad-config',
    `the directory ${path} may be written by others (mode ${mode}, owner ${stats.uid}); it must be the agent's alone`,
  );
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}
