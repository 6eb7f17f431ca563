import { dirname, isAbsolute, normalize } from 'node:path';

/** The directories in which runtimes keep the namespaces of sandboxes, besides /proc. */
export const NETNS_DIRECTORIES: readonly string[] = [
  '/var/run/netns',
  '/run/netns',
  '/var/run/docker/netns',
  '/run/docker/netns',
];

const OF_PROCESS = /^\/proc\/[1-9]\d{0,9}\/ns\/net$/;

function isOfProcess(path: string): boolean {
  return OF_PROCESS.test(path);
}

/** Which network namespaces a process looks into. */
export interface NetnsReach {
  /** Directories whose direct children may be network namespaces, besides /proc/<pid>/ns/net. */
  readonly directories: readonly string[];
  /** Whether this process and the runtime share the PID namespace. */
  readonly seesProcesses: boolean;
}

/** Why what the runtime sees at this path is not seen here; null if it is. */
export function whyHidden(path: string, { seesProcesses }: NetnsReach): string | null {
  if (seesProcesses || !isOfProcess(path)) return null;
  return `${path} names a process of the host, which this agent does not see`;
}

/** The same, or why the path is not opened. */
export function whyUnseen(path: string, sight: NetnsReach): string | null {
  const hidden = whyHidden(path, sight);
  if (hidden !== null) return hidden;
  const refusal = refuseNetnsPath(path, sight.directories);
  return refusal === null ? null : `network namespace ${path} ${refusal}`;
}

/** Why this path is not opened; null if it may be. */
export function refuseNetnsPath(path: string, directories: readonly string[]): string | null {
  if (!isAbsolute(path) || path.includes('\0')) return 'is not an absolute path';
  if (normalize(path) !== path) return 'is not a plain path';
  if (isOfProcess(path) || directories.includes(dirname(path))) return null;
  return `is outside ${[...directories, '/proc/<pid>/ns/net'].join(', ')}`;
}
