import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtempDisposable, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { mountTmpfs } from '#test/contract/tmpfs.ts';
import { installInto } from './install-into.ts';
import { installPlugin } from './install-plugin.ts';

const run = promisify(execFile);

async function place() {
  const directory = await mkdtempDisposable(join(tmpdir(), 'ipledger-install-'));
  const from = join(directory.path, 'source');
  await writeFile(from, 'new plugin', { mode: 0o644 });
  const bin = join(directory.path, 'bin');
  await mkdir(bin);
  return { bin, from, to: join(bin, 'ipledger'), [Symbol.asyncDispose]: () => directory.remove() };
}

test('the plugin is executable for all users, and no other file is left', async () => {
  await using at = await place();
  expect(await installPlugin(at)).toBe('installed');
  expect([await readFile(at.to, 'utf8'), (await stat(at.to)).mode & 0o777]).toEqual(['new plugin', 0o755]);
  expect(await readdir(at.bin)).toEqual(['ipledger']);
});

test('an older plugin is replaced by rename: a process that has it open keeps the old file', async () => {
  await using at = await place();
  await writeFile(at.to, 'old plugin', { mode: 0o755 });
  const { ino } = await stat(at.to);
  expect(await installPlugin(at)).toBe('installed');
  expect((await stat(at.to)).ino).not.toBe(ino);
  expect(await readFile(at.to, 'utf8')).toBe('new plugin');
});

test('an equal plugin is not touched, unless it is not executable', async () => {
  await using at = await place();
  await installPlugin(at);
  const { ino } = await stat(at.to);
  expect(await installPlugin(at)).toBe('unchanged');
  expect((await stat(at.to)).ino).toBe(ino);
  await writeFile(at.to, 'new plugin');
  await chmod(at.to, 0o600);
  expect(await installPlugin(at)).toBe('installed');
});

test('a link is replaced and not followed', async () => {
  await using at = await place();
  const other = join(at.bin, 'other');
  await writeFile(other, 'belongs to others');
  await symlink(other, at.to);
  await installPlugin(at);
  expect([await readFile(other, 'utf8'), await readFile(at.to, 'utf8')]).toEqual(['belongs to others', 'new plugin']);
});

test.each([
  { name: 'a directory in its place', prepare: (to: string) => mkdir(to), says: 'is a directory' },
  { name: 'no directory for it', prepare: async () => {}, says: 'ENOENT', to: '/nowhere/bin/ipledger' },
])('refused: $name', async ({ prepare, says, to }) => {
  await using at = await place();
  await prepare(at.to);
  await expect(installPlugin({ ...at, to: to ?? at.to })).rejects.toThrow(says);
});

test('a source that is empty or not a file is refused, and the old plugin stays', async () => {
  await using at = await place();
  await writeFile(at.to, 'old plugin');
  await expect(installPlugin({ ...at, from: at.bin })).rejects.toThrow('is not a plain file');
  await writeFile(at.from, '');
  await expect(installPlugin(at)).rejects.toThrow('has 0 bytes');
  expect(await readFile(at.to, 'utf8')).toBe('old plugin');
});

test('on a full disk the old plugin stays, without a partial new file', async () => {
  await using at = await place();
  using small = mountTmpfs('256k');
  const to = join(small.path, 'ipledger');
  await writeFile(to, 'old plugin', { mode: 0o755 });
  await writeFile(at.from, Buffer.alloc(1024 * 1024, 'x'));
  await expect(installPlugin({ from: at.from, to })).rejects.toThrow('ENOSPC');
  expect(await readFile(to, 'utf8')).toBe('old plugin');
  expect(await readdir(small.path)).toEqual(['ipledger']);
});

test('the plugin is also installed under the name of Spiderpool when that is set, or where no plugin has it', async () => {
  await using at = await place();
  const log = pino({ level: 'silent' });
  const theirs = join(at.bin, 'spiderpool');
  await installInto({ from: at.from, directory: at.bin, asSpiderpool: 'never' }, log);
  expect(await readdir(at.bin)).toEqual(['ipledger']);
  await writeFile(theirs, 'upstream');
  await installInto({ from: at.from, directory: at.bin, asSpiderpool: 'if-absent' }, log);
  expect(await readFile(theirs, 'utf8')).toBe('upstream');
  await installInto({ from: at.from, directory: at.bin, asSpiderpool: 'always' }, log);
  expect(await readFile(theirs, 'utf8')).toBe('new plugin');
});

test('our plugin under the name of Spiderpool is updated, whatever its version', async () => {
  await using at = await place();
  const log = pino({ level: 'silent' });
  const theirs = join(at.bin, 'spiderpool');
  await writeFile(theirs, 'reads IPLEDGER_SOCKET, version 2'); // an earlier run ended between the two files
  await writeFile(at.to, 'reads IPLEDGER_SOCKET, version 1');
  await writeFile(at.from, 'reads IPLEDGER_SOCKET, version 3');
  await installInto({ from: at.from, directory: at.bin, asSpiderpool: 'if-absent' }, log);
  const installed = [await readFile(theirs, 'utf8'), await readFile(at.to, 'utf8')];
  expect(installed).toEqual(Array.from({ length: 2 }, () => 'reads IPLEDGER_SOCKET, version 3'));
});

test('the plugin can be executed at every moment of an update', async () => {
  await using at = await place();
  const program = await readFile('/bin/true');
  const install = async (version: number) => {
    await writeFile(at.from, Buffer.concat([program, Buffer.from(`version ${version}`)]));
    await installPlugin(at);
  };
  await install(0);
  // In another process: a child of this one would inherit its open files for a moment.
  const calling = run('sh', ['-c', 'i=0; while [ $i -lt 500 ]; do "$0" || exit 1; i=$((i+1)); done', at.to]);
  let isOver = false;
  const called = calling.finally(() => {
    isOver = true;
  });
  for (let version = 1; !isOver; version += 1) await install(version);
  await called;
});
