import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toTar } from './tar.ts';

const AT = new Date('2026-11-18T20:20:00Z');
const tar = (args: string[], archive: Buffer) =>
  spawnSync('tar', args, { input: archive, encoding: 'utf8', env: { TZ: 'UTC' } });

test('tar of the system reads what is written: names, sizes, times and contents', () => {
  const files = [
    { path: 'empty.txt', text: '' },
    { path: 'a/one-block.txt', text: 'x'.repeat(512) },
    { path: `${'folder/'.repeat(20)}${'n'.repeat(100)}`, text: 'Größe\n' },
  ];
  const archive = toTar(files, AT);
  const listed = tar(['-tvf', '-', '--full-time'], archive);
  expect(listed.status).toBe(0);
  expect(listed.stdout.match(/\d+ 2026-11-18 20:20:00 \S+/g)).toEqual(
    files.map(({ path, text }) => `${Buffer.byteLength(text)} 2026-11-18 20:20:00 ${path}`),
  );
  for (const { path, text } of files) expect(tar(['-xOf', '-', path], archive).stdout).toBe(text);
});

test('a path that does not fit is an error', () => {
  expect(() => toTar([{ path: 'p'.repeat(101), text: '' }], AT)).toThrow('too long for an archive');
});
