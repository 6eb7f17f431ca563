import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildRecord } from '#test/support/build-record.ts';
import { AnsweredStore } from './answered-store.ts';

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-answered-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const told: string[] = [];
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
  expect(await readdir(directory)).toEqual(['10.0.0.10.json']);
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

test('a file that was cut short is told and removed, and keeps no agent from starting', async () => {
  const directory = await makeDirectory();
  await writeFile(join(directory, '10.0.0.10.json'), '{"name":"10.0.');
  expect((await open(directory)).all()).toEqual([]);
  expect(told).toContain('10.0.0.10.json');
  expect(await readdir(directory)).toEqual([]);
});

test('a disk that takes nothing is told, and the memory still knows', async () => {
  const directory = await makeDirectory();
  const store = await open(directory);
  await rm(directory, { recursive: true });
  const record = buildRecord({ address: '10.0.0.19' });
  store.keep(record);
  await store.settled();
  expect(store.has(record)).toBe(true);
  expect(told).toContain('10.0.0.19.json');
  // The next refresh of the index keeps the same record again, and by then there may be room.
  await mkdir(directory);
  store.keep(record);
  await store.settled();
  expect((await open(directory)).all()).toEqual([record]);
});
