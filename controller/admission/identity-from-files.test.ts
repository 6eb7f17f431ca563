import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCa, type Identity } from './certificate.ts';
import { identityFromFiles } from './identity-from-files.ts';

const life = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) };
const log = pino({ level: 'silent' });

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'identity-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = () =>
  identityFromFiles({ certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), log, checkEveryMs: 20 });
const put = async ({ cert, key }: Partial<Identity>) => {
  if (cert !== undefined) await writeFile(join(dir, 'tls.crt'), cert);
  if (key !== undefined) await writeFile(join(dir, 'tls.key'), key);
};

test('what is replaced on disk is told, and only once both files belong together', async () => {
  const [first, second] = [createCa('a', life), createCa('b', life)];
  await put(first);
  await using source = await open();
  expect(source.current()).toEqual(first);
  const told: Identity[] = [];
  using _ = source.onChange((identity) => void told.push(identity));
  await put({ cert: second.cert });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(source.current()).toEqual(first);
  await put({ key: second.key });
  await vi.waitFor(() => expect(told).toEqual([second]), 10_000);
  expect(source.current()).toEqual(second);
});

test('files that are missing or do not belong together refuse to start', async () => {
  await expect(open()).rejects.toThrow('tls.crt');
  await put({ cert: createCa('a', life).cert, key: createCa('b', life).key });
  await expect(open()).rejects.toThrow(/tls.key is not the key of .*tls.crt/);
});
