import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfigFile } from './read-config-file.ts';

async function read(text: string | Buffer) {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'ipledger-conf-'));
  const path = join(directory.path, 'conf.yml');
  await writeFile(path, text);
  return await readConfigFile(path);
}

test("what Spiderpool's chart writes is read", async () => {
  const { config, warnings } = await read(`
ipamUnixSocketPath: /var/run/spidernet/spiderpool.sock
enableIPv4: true
enableIPv6: false
enableStatefulSet: true
clusterSubnetDefaultFlexibleIPNumber: 1
podResourceInject:
  enabled: false
  namespacesExclude: [kube-system, spiderpool]
`);
  expect(config).toMatchObject({ enableIPv6: false, clusterSubnetAutoPoolDefaultRedundantIPNumber: 1 });
  expect(warnings).toEqual([]);
});

test('an empty file is all defaults', async () => {
  expect((await read('# nothing yet\n')).config.enableIPv4).toBe(true);
});

test.each([
  { name: 'a key twice', text: 'enableIPv4: true\nenableIPv4: false\n', says: 'line 2' },
  { name: 'no YAML', text: 'a: [', says: 'line 1' },
  { name: 'too large', text: '#'.repeat(70_000), says: 'more than 65536 bytes' },
  { name: 'aliases that grow', text: `a: &a [x]\nb: [${'*a,'.repeat(20)}]\n`, says: 'alias' },
  { name: 'a bad value', text: 'probeCount: 11\n', says: 'probeCount: expected a whole number from 1 to 10, found 11' },
  { name: 'two documents', text: 'enableIPv4: true\n---\nenableIPv4: false\n', says: 'multiple documents' },
])('the file is named with what is wrong: $name', async ({ text, says }) => {
  const message = expect.stringMatching(new RegExp(`^/.*/conf\\.yml: .*${says}`)) as string;
  await expect(read(text)).rejects.toMatchObject({ reason: 'bad-config', message });
});

test('a file that is not there, and a directory', async () => {
  await expect(readConfigFile('/nowhere/conf.yml')).rejects.toMatchObject({ reason: 'bad-config' });
  await expect(readConfigFile('/tmp')).rejects.toThrow('/tmp: it is not a plain file');
});
