import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from './private-directory.ts';

test('missing parents are made for the agent alone', async () => {
  const root = await mkdtemp(join(tmpdir(), 'ipledger-directory-'));
  await makeDirectory(join(root, 'a', 'b'));
  expect((await stat(join(root, 'a'))).mode & 0o777).toBe(0o700);
  await makeDirectory(join(root, 'a', 'b'));
  await rm(root, { recursive: true });
});

test('where nothing can be made it ends with an error that names the place', async () => {
  await expect(makeDirectory('/proc/nothing/here')).rejects.toMatchObject({
    reason: 'bad-config',
    message: expect.stringContaining('/proc/nothing') as string,
  });
});
