/** The text of a file, or null if it cannot be read. */
type ReadText = (path: string) => string | null;

const ROOT = '/sys/fs/cgroup';
/** Version 2, also in a hybrid tree, where it is mounted one level deeper. `memory.high` slows a process down long before its end. */
const UNIFIED = { mounts: [ROOT, `${ROOT}/unified`], files: ['memory.max', 'memory.high'] };
const LEGACY = { mounts: [`${ROOT}/memory`], files: ['memory.limit_in_bytes'] };

/**
 * The memory limit of this process in bytes: the least one on the way from its cgroup up to the root, or null if there is none.
 * In a container the path of the cgroup may be that of the host, which does not exist there; the root is then the container's own.
 */
export function readMemoryLimit(read: ReadText): number | null {
  const lines = (read('/proc/self/cgroup') ?? '').split('\n');
  const limits = lines.flatMap((line) => {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const tree = controllers === '' ? UNIFIED : controllers.split(',').includes('memory') ? LEGACY : null;
    if (path === '' || tree === null) return [];
    const { mounts, files } = tree;
    return mounts.flatMap((mount) => directoriesUp(path).flatMap((at) => files.map((file) => `${mount}${at}/${file}`)));
  });
  const known = limits.map((path) => toBytes(read(path))).filter((bytes) => bytes !== null);
  const least = Math.min(...known);
  // Without a limit, version 1 shows the largest number of pages that fits into 63 bits.
  return least < physicalMemory(read) ? least : null;
}

/** `/a/b` gives `/a/b`, `/a` and the root. A cgroup outside the namespace of the process is shown as `/../x`. */
function directoriesUp(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return [...parts.keys(), parts.length].map((count) =>
    parts
      .slice(0, count)
      .map((part) => `/${part}`)
      .join(''),
  );
}

function toBytes(text: string | null): number | null {
  const bytes = /^\d+$/.test(text?.trim() ?? '') ? Number(text) : Number.NaN;
  return bytes > 0 ? bytes : null;
}

function physicalMemory(read: ReadText): number {
  const [, kilobytes] = /^MemTotal:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '') ?? [];
  return kilobytes === undefined ? Number.MAX_SAFE_INTEGER : Number(kilobytes) * 1024;
}
