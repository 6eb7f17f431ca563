import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export type NetnsLook = 'there' | 'gone' | 'unclear';

/** Gone only where its directory can be seen: an agent that cannot see the directory at all knows nothing. */
export async function lookAtNetns(path: string | undefined): Promise<NetnsLook> {
  if (path === undefined) return 'unclear';
  if (await exists(path)) return 'there';
  const directory = path.startsWith('/proc/') ? '/proc/self' : dirname(path);
  return (await exists(directory)) ? 'gone' : 'unclear';
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (thrown: NodeJS.ErrnoException) => thrown.code !== 'ENOENT' && thrown.code !== 'ENOTDIR',
  );
}
