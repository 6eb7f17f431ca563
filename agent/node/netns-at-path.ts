import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { seesHostProcesses } from './host-processes.ts';

const NSFS = 0x6e736673;

/**
 * The inode of the namespace at a path. `other`: something else is there. `hidden`: this process does not see what the
 * runtime sees at this path.
 */
export type NetnsAtPath = number | 'other' | 'missing' | 'hidden';

/** Synchronous on purpose: a look at tmpfs or /proc is cheaper than a trip through the thread pool. */
export function seeNetnsAt(path: string): NetnsAtPath {
  const isOfProcess = path.startsWith('/proc/');
  if (isOfProcess && !seesHostProcesses()) return 'hidden';
  try {
    const { ino } = statSync(path);
    return statfsSync(path).type === NSFS ? ino : 'other';
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    const isAbsent = code === 'ENOENT' || code === 'ENOTDIR';
    return isAbsent && (isOfProcess || existsSync(dirname(path))) ? 'missing' : 'hidden';
  }
}
