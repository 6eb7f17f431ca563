import { expect, test } from 'vitest';
import { readMemoryLimit } from './memory-limit.ts';

const MIB = 1 << 20;
const HOST = 'MemTotal:       16384000 kB\nMemFree:        1 kB\n';
/** Of cgroup v1: the largest number of pages in 63 bits. */
const NONE = '9223372036854771712';

const limitOf = (files: Record<string, string>): number | null =>
  readMemoryLimit((path) => ({ '/proc/meminfo': HOST, ...files })[path] ?? null);

test.each<{ name: string; files: Record<string, string>; limit: number | null }>([
  {
    name: 'version 2, in the namespace of a container',
    files: { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${512 * MIB}\n` },
    limit: 512 * MIB,
  },
  {
    name: 'version 2 without a limit',
    files: { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': 'max\n' },
    limit: null,
  },
  {
    name: 'version 2, a unit of systemd: the root has no file',
    files: {
      '/proc/self/cgroup': '0::/system.slice/agent.service\n',
      '/sys/fs/cgroup/system.slice/agent.service/memory.max': `${300 * MIB}\n`,
      '/sys/fs/cgroup/system.slice/memory.max': 'max\n',
    },
    limit: 300 * MIB,
  },
  {
    name: 'version 2, nested: the limit of the pod is less than that of the container',
    files: {
      '/proc/self/cgroup': '0::/kubepods/pod1/c1\n',
      '/sys/fs/cgroup/kubepods/pod1/c1/memory.max': `${800 * MIB}\n`,
      '/sys/fs/cgroup/kubepods/pod1/memory.max': `${600 * MIB}\n`,
      '/sys/fs/cgroup/kubepods/memory.max': `${4_000 * MIB}\n`,
    },
    limit: 600 * MIB,
  },
  {
    name: 'version 2, slowed down before its limit',
    files: {
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/memory.max': `${512 * MIB}\n`,
      '/sys/fs/cgroup/memory.high': `${460 * MIB}\n`,
    },
    limit: 460 * MIB,
  },
  {
    name: 'version 2, outside of the namespace of the process',
    files: { '/proc/self/cgroup': '0::/../other\n', '/sys/fs/cgroup/other/memory.max': `${100 * MIB}` },
    limit: 100 * MIB,
  },
  {
    name: 'version 1, nested',
    files: {
      '/proc/self/cgroup': '9:name=systemd:/\n4:memory:/kubepods/pod1/c1\n1:cpu,cpuacct:/x\n',
      '/sys/fs/cgroup/memory/kubepods/pod1/c1/memory.limit_in_bytes': `${NONE}\n`,
      '/sys/fs/cgroup/memory/kubepods/pod1/memory.limit_in_bytes': `${400 * MIB}\n`,
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${NONE}\n`,
    },
    limit: 400 * MIB,
  },
  {
    name: 'version 1 in a container: the path is that of the host, the root is its own',
    files: {
      '/proc/self/cgroup': '4:memory:/docker/0123\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${256 * MIB}\n`,
    },
    limit: 256 * MIB,
  },
  {
    name: 'version 1 without a limit',
    files: { '/proc/self/cgroup': '4:memory:/\n', '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${NONE}\n` },
    limit: null,
  },
  {
    name: 'hybrid: version 2 has no memory controller',
    files: {
      '/proc/self/cgroup': '4:memory:/a\n0::/a\n',
      '/sys/fs/cgroup/unified/a/cgroup.procs': '1\n',
      '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': `${200 * MIB}\n`,
    },
    limit: 200 * MIB,
  },
  {
    name: 'hybrid: version 2 has it',
    files: { '/proc/self/cgroup': '0::/a\n', '/sys/fs/cgroup/unified/a/memory.max': `${200 * MIB}\n` },
    limit: 200 * MIB,
  },
  {
    name: 'more than the host has',
    files: { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': String(2 ** 40) },
    limit: null,
  },
  {
    name: 'nonsense',
    files: { '/proc/self/cgroup': 'x\n0::/\n', '/sys/fs/cgroup/memory.max': '-5\n', '/sys/fs/cgroup/memory.high': '0' },
    limit: null,
  },
  { name: 'no cgroup', files: {}, limit: null },
  { name: 'no /proc at all', files: { '/proc/meminfo': '' }, limit: null },
])('$name', ({ files, limit }) => expect(limitOf(files)).toBe(limit));
