import { dirname, isAbsolute, normalize } from 'node:path';

/** The directories in which runtimes keep the namespaces of sandboxes, besides /proc. */
export const NETNS_DIRECTORIES: readonly string[] = [
  '/var/run/netns',
  '/run/netns',
  '/var/run/docker/netns',
  '/run/docker/netns',
];

const OF_PROCESS = /^\/proc\/[1-9]\d{0,9}\/ns\/net$/;

export function isOfProcess(path: string): boolean {
  return OF_PROCESS.test(path);
}

/** Why this path is not opened; null if it may be. */
export function refuseNetnsPath(path: string, directories: readonly string[]): string | null {
  if (!isAbsolute(path) || path.includes('\0')) return 'is not an absolute path';
  if (normalize(path) !== path) return 'is not a plain path';
  if (isOfProcess(path) || directories.includes(dirname(path))) return null;
  return `is outside ${[...directories, '/proc/<pid>/ns/net'].join(', ')}`;
}
