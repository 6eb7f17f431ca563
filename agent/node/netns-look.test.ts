import { expect, test } from 'vitest';
import type { Holder } from '#pkg/record/ip-record.ts';
import { looksFrom, type NetnsLook, type NetnsSight } from './netns-look.ts';

const PATH = '/var/run/netns/web';
const HOST = { bootID: 'boot-2', machineID: 'machine-1' };
const SEEN: Partial<Holder> = { netns: PATH, netnsInode: 7, ...HOST };
const OLD: Partial<Holder> = { netns: PATH };

interface Case {
  readonly name: string;
  readonly holder: Partial<Holder>;
  readonly sight?: Partial<NetnsSight>;
  readonly expected: NetnsLook;
}

const processesIn = (...inodes: number[]) => ({
  scanProcesses: async () => ({ inodes: new Set(inodes), isComplete: true }),
});
const MISSING = { atPath: () => 'missing' as const };
const HIDDEN = { atPath: () => 'hidden' as const };
const UNREADABLE = { scanProcesses: async () => ({ inodes: new Set<number>(), isComplete: false }) };
const BLIND = { scanProcesses: async () => null };

const CASES: readonly Case[] = [
  { name: 'its inode is at its path', holder: SEEN, expected: 'there' },
  { name: 'its path is missing', holder: SEEN, sight: MISSING, expected: 'gone' },
  { name: 'its path shows another namespace', holder: SEEN, sight: { atPath: () => 8 }, expected: 'gone' },
  { name: 'its path shows something else', holder: SEEN, sight: { atPath: () => 'other' }, expected: 'gone' },
  { name: 'a process is in it still', holder: SEEN, sight: { ...MISSING, ...processesIn(1, 7) }, expected: 'there' },
  { name: 'processes are not seen', holder: SEEN, sight: { ...MISSING, ...BLIND }, expected: 'path-gone' },
  { name: 'one process is not readable', holder: SEEN, sight: { ...MISSING, ...UNREADABLE }, expected: 'unclear' },
  { name: 'its directory is not seen', holder: SEEN, sight: HIDDEN, expected: 'unclear' },
  { name: 'it has only lo', holder: SEEN, sight: { linksIn: () => ['lo'] }, expected: 'bare' },
  { name: 'it has no link at all', holder: SEEN, sight: { linksIn: () => [] }, expected: 'bare' },
  { name: 'it has a link', holder: SEEN, sight: { linksIn: () => ['lo', 'eth0'] }, expected: 'there' },
  { name: 'the host was rebooted', holder: { ...SEEN, bootID: 'boot-1' }, expected: 'gone' },
  {
    name: 'another host has its name',
    holder: { ...SEEN, bootID: 'boot-1', machineID: 'machine-2' },
    expected: 'unclear',
  },
  { name: 'another boot of an unknown host', holder: { netns: PATH, bootID: 'boot-1' }, expected: 'unclear' },
  {
    name: 'another boot, and this host does not know itself',
    holder: { ...SEEN, bootID: 'boot-1' },
    sight: { host: { bootID: 'boot-2' } },
    expected: 'unclear',
  },
  { name: 'an older record, path there', holder: OLD, expected: 'there' },
  { name: 'an older record, path missing', holder: OLD, sight: MISSING, expected: 'path-gone' },
  { name: 'no path known', holder: {}, expected: 'unclear' },
];

test.each(CASES)('$name: $expected', async ({ holder, sight, expected }) => {
  expect(await looksFrom(sightOf(sight))()(holder)).toBe(expected);
});

test('the processes are scanned once a round, and not at all while every path is there', async () => {
  let scans = 0;
  const count = async () => {
    scans += 1;
    return { inodes: new Set<number>(), isComplete: true };
  };
  const atPath = (path: string) => (path === PATH ? 7 : 'missing');
  const begin = looksFrom(sightOf({ atPath, scanProcesses: count }));
  const look = begin();
  await look(SEEN);
  expect(scans).toBe(0);
  await Promise.all([look({ ...SEEN, netns: '/var/run/netns/a' }), look({ ...SEEN, netns: '/var/run/netns/b' })]);
  expect(scans).toBe(1);
  await begin()({ ...SEEN, netns: '/var/run/netns/a' });
  expect(scans).toBe(2);
});

function sightOf(sight: Partial<NetnsSight> = {}): NetnsSight {
  return { host: HOST, atPath: () => 7, linksIn: () => null, ...processesIn(1), ...sight };
}
