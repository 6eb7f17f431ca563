import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { AnsweredStore } from './answered-store.ts';

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-answered-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const told: string[] = [];
beforeEach(() => {
  told.length = 0;
});
const open = (directory: string) => AnsweredStore.open(directory, 'host-1', (file) => told.push(file));

test('what was kept is there after a restart, and what was forgotten is not', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  const kept = buildRecord({ address: '10.0.0.10' });
  store.keep(kept);
  store.keep(buildRecord({ address: 'fd00::a' }));
  store.keep(buildRecord({ address: '10.0.0.11', holder: { interface: 'net1' } }));
  store.forget('10.0.0.11');
  store.forget('fd00::a');
  await store.settled();
  expect((await open(directory)).all()).toEqual([kept]);
  expect(await readdir(directory)).toEqual(['records.log']);
});

test('a record of another node is not kept: the source of a migration keeps it', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  store.keep(buildRecord({ address: '10.0.0.10', holder: { node: 'host-2' } }));
  await store.settled();
  expect(store.all()).toEqual([]);
  expect(await readdir(directory)).toEqual([]);
});

test('the last address of an interface replaces the one before it', async () => {
  const store = await open(await makeDirectory());
  store.keep(buildRecord({ address: '10.0.0.10' }));
  store.keep(buildRecord({ address: '10.0.0.11' }));
  expect(store.all().map(({ name }) => name)).toEqual(['10.0.0.11']);
  await store.settled();
});

test('the files of an older agent are read, and replaced by the log', async () => {
  const directory = await makeDirectory();
  const [first, second] = [buildRecord({ address: '10.0.0.10' }), buildRecord({ address: 'fd00::a' })];
  await writeFile(join(directory, '10.0.0.10.json'), JSON.stringify(first));
  await writeFile(join(directory, 'fd00::a.json'), JSON.stringify(second));
  await writeFile(join(directory, '10.0.0.11.json'), '{"name":"10.0.');
  expect((await open(directory)).all()).toEqual([first, second]);
  expect(told).toContain('10.0.0.11.json');
  expect(await readdir(directory)).toEqual(['records.log']);
  expect((await open(directory)).all()).toEqual([first, second]);
});

test('a line that was cut short is told, and costs no other line', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  const [first, second] = [buildRecord({ address: '10.0.0.10' }), buildRecord({ address: 'fd00::a' })];
  store.keep(first);
  await store.settled();
  await appendFile(join(directory, 'records.log'), '{"keep":{"name":"10.0.');
  const next = await open(directory);
  expect(told).toContain('records.log');
  expect(next.all()).toEqual([first]);
  next.keep(second);
  await next.settled();
  expect((await open(directory)).all()).toEqual([first, second]);
});

test('the log does not grow with every change', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  const kept = buildRecord({ address: 'fd00::a' });
  store.keep(kept);
  for (let at = 0; at < 3_000; at += 1) {
    store.keep(buildRecord({ address: '10.0.0.10', resourceVersion: String(at) }));
    store.forget('10.0.0.10');
    if (at % 100 === 0) await store.settled();
  }
  await store.settled();
  const lines = (await readFile(join(directory, 'records.log'), 'utf8')).split('\n').length;
  expect(lines).toBeLessThan(2_500);
  expect((await open(directory)).all()).toEqual([kept]);
});

test('changes that came while the disk was busy are all there', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  const records = Array.from({ length: 2_500 }, (_, at) =>
    buildRecord({ address: `10.0.${at >> 8}.${at & 255}`, holder: { name: `web-${at}` } }),
  );
  for (const record of records) store.keep(record);
  await store.settled();
  expect((await open(directory)).all()).toHaveLength(records.length);
});

test('a disk that takes nothing is told, and the memory still knows', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  await rm(directory, { recursive: true });
  const record = buildRecord({ address: '10.0.0.19' });
  store.keep(record);
  await store.settled();
  expect(store.has(record)).toBe(true);
  expect(told).toContain('records.log');
  // The next refresh of the index keeps the same record again, and by then there may be room.
  await mkdir(directory);
  store.keep(record);
  await store.settled();
  expect((await open(directory)).all()).toEqual([record]);
});
