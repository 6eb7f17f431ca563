import { watch } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeTemporaryDirectory } from '#test/contract/temporary-directory.ts';
import { copyImage, type ImageCopy } from '#test/support/image-copy.ts';
import { runProgram } from '#test/support/run-program.ts';
import { installAsShipped } from '#test/support/shipped-installer.ts';

const NAMES = ['ipledger', 'spiderpool'];

let before: ImageCopy;
let after: ImageCopy;
let host: string;
let bin: string;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  before = stack.use(await copyImage('before'));
  after = stack.use(await copyImage('after'));
  const images = stack.move();
  return () => images.disposeAsync();
});

beforeEach(() => {
  const directory = makeTemporaryDirectory();
  host = directory.path;
  bin = join(host, 'opt/cni/bin');
  return () => directory[Symbol.dispose]();
});

const outcomes = async (image: ImageCopy) =>
  Object.fromEntries((await installAsShipped(image, host)).map(({ to, outcome }) => [to, outcome]));
const both = (outcome: string) => Object.fromEntries(NAMES.map((name) => [join(bin, name), outcome]));
const statsOf = () => Promise.all(NAMES.map((name) => stat(join(bin, name), { bigint: true })));

/** The events of the directory by file name, in order; `rename`: created, removed or replaced. */
function watchBin() {
  const seen: string[] = [];
  const watcher = watch(bin, (event, name) => void seen.push(`${event} ${name}`));
  return {
    /** All events up to now: they come in order, so all of them are before the end mark. */
    async events(): Promise<string[]> {
      await writeFile(join(bin, 'end-mark'), '');
      await vi.waitUntil(() => seen.includes('rename end-mark'), 20_000);
      return seen.slice(0, seen.indexOf('rename end-mark'));
    },
    [Symbol.dispose]: () => watcher.close(),
  };
}

test('on a host without the plugin it is installed under both names, executable for all, without other files', async () => {
  expect(await outcomes(before)).toEqual(both('installed'));
  expect((await readdir(bin)).sort()).toEqual(NAMES);
  const env = { CNI_COMMAND: 'VERSION' };
  for (const [at, { mode }] of (await statsOf()).entries()) {
    expect(mode & 0o7777n).toBe(0o755n);
    const { code, stdout } = await runProgram(join(bin, NAMES[at] ?? ''), [], { env, stdin: '{"cniVersion":"1.1.0"}' });
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { cniVersion: '1.1.0' }]);
  }
});

test('an upgrade replaces both files by rename; a process that has the old one open reads it to its end', async () => {
  await outcomes(before);
  const [old, next] = await Promise.all([readFile(before.plugin), readFile(after.plugin)]);
  expect(old.equals(next)).toBe(false);
  await using reader = await open(join(bin, 'ipledger'));
  const { buffer: half } = await reader.read(Buffer.alloc(old.length >> 1));
  using watched = watchBin();
  expect(await outcomes(after)).toEqual(both('installed'));
  const events = await watched.events();
  expect(Buffer.concat([half, await reader.readFile()]).equals(old)).toBe(true);
  for (const name of NAMES) expect((await readFile(join(bin, name))).equals(next)).toBe(true);
  expect(events.filter((event) => !event.includes(' .'))).toEqual(['rename ipledger', 'rename spiderpool']);
  expect((await readdir(bin)).sort()).toEqual(['end-mark', ...NAMES]);
  for (const { mode } of await statsOf()) expect(mode & 0o7777n).toBe(0o755n);
});

test('a second run touches nothing', async () => {
  await outcomes(before);
  const first = await statsOf();
  using watched = watchBin();
  expect(await outcomes(before)).toEqual(both('unchanged'));
  expect(await watched.events()).toEqual([]);
  expect((await statsOf()).map(({ ino, ctimeNs }) => [ino, ctimeNs])).toEqual(
    first.map(({ ino, ctimeNs }) => [ino, ctimeNs]),
  );
});

test('an existing plugin of Spiderpool is kept, also in an upgrade', async () => {
  await mkdir(bin, { recursive: true });
  const theirs = join(bin, 'spiderpool');
  await writeFile(theirs, 'upstream', { mode: 0o755 });
  for (const image of [before, after]) {
    expect(await outcomes(image)).toEqual({ [theirs]: 'left-alone', [join(bin, 'ipledger')]: 'installed' });
    expect(await readFile(theirs, 'utf8')).toBe('upstream');
  }
});
