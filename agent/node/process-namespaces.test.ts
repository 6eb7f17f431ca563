import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { scanProcesses } from './process-namespaces.ts';

/** A directory like /proc, from the targets of the links in it. */
async function scan(links: Readonly<Record<string, string>>) {
  const proc = await mkdtemp(join(tmpdir(), 'ipledger-proc-'));
  for (const [path, target] of Object.entries(links)) {
    await mkdir(dirname(join(proc, path)), { recursive: true });
    await symlink(target, join(proc, path));
  }
  const { inodes, isComplete } = await scanProcesses(proc);
  await rm(proc, { recursive: true });
  return { inodes: [...inodes].toSorted((a, b) => a - b), isComplete };
}

test.each([
  {
    name: 'each namespace once, of processes only',
    links: { '2/ns/net': 'net:[7]', '30/ns/net': 'net:[7]', '31/ns/net': 'net:[8]', 'self/ns/net': 'net:[9]' },
    expected: { inodes: [7, 8], isComplete: true },
  },
  {
    name: 'a process that has ended is in none',
    links: { '2/ns/net': 'net:[7]', '3/exe': 'gone' },
    expected: { inodes: [7], isComplete: true },
  },
  {
    name: 'a process whose first thread has ended is where its other threads are',
    links: { '3/task/3/exe': 'gone', '3/task/4/ns/net': 'net:[9]' },
    expected: { inodes: [9], isComplete: true },
  },
  {
    name: 'a process that does not show its namespace may be anywhere',
    links: { '2/ns/net': 'net:[7]', '3/ns/net': 'hidden' },
    expected: { inodes: [7], isComplete: false },
  },
  {
    name: 'the first process of the host is in no namespace of a pod, shown or not',
    links: { '1/ns/net': 'hidden', '10/ns/net': 'net:[7]' },
    expected: { inodes: [7], isComplete: true },
  },
])('$name', async ({ links, expected }) => {
  expect(await scan(links)).toEqual(expected);
});
