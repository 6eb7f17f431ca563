import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { type TarEntry, tar } from './tar.ts';

const ENTRIES: readonly TarEntry[] = [
  { path: 'etc', mode: 0o755, type: 'directory' },
  { path: 'etc/hosts', mode: 0o644, type: 'file', content: Buffer.from('x'.repeat(600)) },
  { path: 'etc/link', mode: 0o777, type: 'link', to: 'hosts' },
  { path: 'tmp', mode: 0o1777, type: 'directory' },
];

const list = (archive: Buffer): string[] =>
  execFileSync('tar', ['--utc', '--full-time', '-tvf', '-'], { input: archive, encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '));

test('another program reads the archive: modes, no owner, no time', () => {
  expect(list(tar(ENTRIES))).toEqual([
    'drwxr-xr-x 0/0 0 1970-01-01 00:00:00 etc/',
    '-rw-r--r-- 0/0 600 1970-01-01 00:00:00 etc/hosts',
    'lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 etc/link -> hosts',
    'drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/',
  ]);
});

test('the content comes back, and the size is that of whole records', () => {
  const archive = tar(ENTRIES);
  expect(execFileSync('tar', ['-xOf', '-', 'etc/hosts'], { input: archive, encoding: 'utf8' })).toBe('x'.repeat(600));
  expect(archive.length % 10_240).toBe(0);
});

test('a path that does not fit is refused', () => {
  expect(() => tar([{ path: 'a'.repeat(101), mode: 0o644, type: 'link', to: 'b' }])).toThrow('too long');
});

test('a long path is split between folder and name, and the time is that of the caller', () => {
  const path = `${'folder/'.repeat(20)}${'n'.repeat(100)}`;
  const archive = tar(
    [{ path, mode: 0o600, type: 'file', content: Buffer.from('ab') }],
    new Date('2026-11-18T20:20:00Z'),
  );
  expect(list(archive)).toEqual([`-rw------- 0/0 2 2026-11-18 20:20:00 ${path}`]);
});
