import { chmod, chown, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { delArgs } from '#test/support/memory-agent.ts';
import { Spool } from './spool.ts';

async function makeSpool() {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-spool-'));
  const spool = new Spool(path);
  const write = (name: string, text: string) => writeFile(join(path, name), text);
  return { path, spool, write, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('dot files are ignored; an entry that is not a plain file, or not ours, is poison', async () => {
  await using made = await makeSpool();
  await made.write('c1@eth0.json', JSON.stringify({ version: 1, del: delArgs('c1') }));
  await made.write('.c2@eth0.json', '{');
  await mkdir(join(made.path, 'c3@eth0.json'));
  await symlink('/etc/hostname', join(made.path, 'c4@eth0.json'));
  await made.write('c5@eth0.json', JSON.stringify({ version: 1, del: delArgs('c5') }));
  await chown(join(made.path, 'c5@eth0.json'), 65534, 65534);
  expect((await made.spool.names()).toSorted()).toEqual([
    'c1@eth0.json',
    'c3@eth0.json',
    'c4@eth0.json',
    'c5@eth0.json',
  ]);
  const kinds = await Promise.all((await made.spool.names()).toSorted().map((name) => made.spool.read(name)));
  expect(kinds.map((entry) => entry.kind)).toEqual(['del', 'poison', 'poison', 'poison']);
  expect(made.spool.find({ containerID: 'c1', ifName: 'eth0' })).not.toBeNull();
  expect(made.spool.find({ containerID: 'c3', ifName: 'eth0' })).toBeNull();
  await made.spool.setAside('c3@eth0.json');
  expect(await made.spool.poison()).toEqual(['c3@eth0.json']);
});

test('a directory that other users may write to is not drained', async () => {
  await using made = await makeSpool();
  await chmod(made.path, 0o777);
  await expect(made.spool.names()).rejects.toThrow('may be written by others');
  await expect(made.spool.prepare()).rejects.toThrow('may be written by others');
});

test('an entry that cannot be read because of a system error stays', async () => {
  await using made = await makeSpool();
  await made.write('c1@eth0.json', '{}');
  const broken = new Spool(join(made.path, 'c1@eth0.json'));
  await expect(broken.read('x@eth0.json')).rejects.toThrow('ENOTDIR');
});

test('partial files are removed only when they are old', async () => {
  await using made = await makeSpool();
  await made.write('.old', '');
  await made.write('.young', '');
  await made.write('c1@eth0.json', '{}');
  const now = new Date('2026-11-16T12:00:00Z');
  const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  await utimes(join(made.path, '.old'), now, minutesAgo(61));
  await utimes(join(made.path, '.young'), now, minutesAgo(59));
  await utimes(join(made.path, 'c1@eth0.json'), now, minutesAgo(61));
  await made.spool.removeUnfinished(now);
  expect((await readdir(made.path)).toSorted()).toEqual(['.young', 'c1@eth0.json']);
});

test.each([
  { name: 'not JSON', text: '{"version":1', why: 'JSON' },
  { name: 'another version', text: '{"version":2}', why: 'version must be 1' },
  { name: 'of another attachment', text: JSON.stringify({ version: 1, del: delArgs('c9') }), why: 'another file name' },
  { name: 'huge', text: ' '.repeat(70_000), why: '70000 bytes' },
])('poison: $name', async ({ text, why }) => {
  await using made = await makeSpool();
  await made.write('c1@eth0.json', text);
  expect(await made.spool.read('c1@eth0.json')).toEqual({
    kind: 'poison',
    why: expect.stringContaining(why) as string,
  });
});

test('a file that does not exist any more is gone, not poison', async () => {
  await using made = await makeSpool();
  expect(await made.spool.read('c1@eth0.json')).toEqual({ kind: 'gone' });
});
