import { mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
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

test('only finished files are entries: no dot files, no directories, no links', async () => {
  await using made = await makeSpool();
  await made.write('c1@eth0.json', JSON.stringify({ version: 1, del: delArgs('c1') }));
  await made.write('.c2@eth0.json', '{');
  await mkdir(join(made.path, 'c3@eth0.json'));
  await symlink('/etc/hostname', join(made.path, 'c4@eth0.json'));
  expect(await made.spool.names()).toEqual(['c1@eth0.json']);
});

test('unfinished writes are removed when they are old, and only then', async () => {
  await using made = await makeSpool();
  await made.write('.old', '');
  await made.write('.young', '');
  await made.write('c1@eth0.json', '{}');
  await utimes(join(made.path, '.old'), 0, 0);
  await utimes(join(made.path, 'c1@eth0.json'), 0, 0);
  await made.spool.removeUnfinished(new Date(1_000));
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

test('a file that vanished is gone, not poison', async () => {
  await using made = await makeSpool();
  expect(await made.spool.read('c1@eth0.json')).toEqual({ kind: 'gone' });
});
