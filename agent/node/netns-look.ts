import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { seesHostProcesses } from './host-processes.ts';

export type NetnsLook = 'there' | 'gone' | 'unclear';

/** Gone only where it could be seen: an agent that sees neither the directory nor the process of a path knows nothing. */
export async function lookAtNetns(path: string | undefined): Promise<NetnsLook> {
  if (path === undefined) return 'unclear';
  if (await exists(path)) return 'there';
  const isVisible = path.startsWith('/proc/') ? seesHostProcesses() : await exists(dirname(path));
  return isVisible ? 'gone' : 'unclear';
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (thrown: NodeJS.ErrnoException) => thrown.code !== 'ENOENT' && thrown.code !== 'ENOTDIR',
  );
}
