import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHostIdentity } from './netns-evidence.ts';

test.each([
  {
    name: 'as systemd writes it',
    text: '0123456789abcdef0123456789abcdef\n',
    expected: '0123456789abcdef0123456789abcdef',
  },
  { name: 'empty, as in many images', text: '', expected: undefined },
  { name: 'of a host that was never booted', text: 'uninitialized\n', expected: undefined },
  { name: 'missing', text: null, expected: undefined },
])('a machine id $name: $expected', async ({ text, expected }) => {
  const directory = await mkdtemp(join(tmpdir(), 'ipledger-machine-'));
  const file = join(directory, 'machine-id');
  if (text !== null) await writeFile(file, text);
  const identity = readHostIdentity(file);
  await rm(directory, { recursive: true });
  expect(identity.machineID).toBe(expected);
  expect(identity.bootID).toMatch(/^[0-9a-f-]{36}$/);
});

test('a directory in its place, as a runtime makes for a missing file, is none', () => {
  expect(readHostIdentity(tmpdir())).not.toHaveProperty('machineID');
});
