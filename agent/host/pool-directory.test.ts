import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { formatRange } from '#pkg/ip/range.ts';
import { mustRun } from '#test/support/run-program.ts';
import { LastGoodFiles } from './last-good-files.ts';
import { PoolDirectory } from './pool-directory.ts';

const silent = pino({ level: 'silent' });

function poolYaml(name: string, ips: string, more = ''): string {
  return `apiVersion: spiderpool.spidernet.io/v2beta1
kind: SpiderIPPool
metadata:
  name: ${name}
spec:
  subnet: 10.0.0.0/24
  ips: [${ips}]
${more}`;
}

async function openDirectory(files: Record<string, string>) {
  const path = await mkdtemp(join(tmpdir(), 'ipledger-pools-'));
  const write = (name: string, text: string) => writeFile(join(path, name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const lastGood = new LastGoodFiles(join(path, 'last-good'));
  const open = (domains: Record<string, string> = {}) =>
    PoolDirectory.open(path, { lastGood, domainsInUse: () => new Map(Object.entries(domains)), log: silent });
  const catalog = await open();
  return {
    path,
    catalog,
    /** As after a restart of the agent. */
    open,
    write,
    remove: (name: string) => rm(join(path, name)),
    rangesOf: (name: string) =>
      catalog
        .current()
        .pools.get(name)
        ?.addresses.intervals()
        .map((interval) => formatRange(4, interval)),
    async [Symbol.asyncDispose]() {
      catalog[Symbol.dispose]();
      await rm(path, { recursive: true, force: true });
    },
  };
}

test('pools and reserved addresses are read from every file of the directory', async () => {
  const reserved = `apiVersion: spiderpool.spidernet.io/v2beta1
kind: SpiderReservedIP
metadata: {name: gateways}
spec: {ips: [10.0.0.1-10.0.0.2]}
`;
  await using made = await openDirectory({
    'a.yaml': `${poolYaml('one', '10.0.0.10')}---\n${poolYaml('two', '10.0.0.20')}`,
    'b.yml': reserved,
    'readme.txt': 'not read',
    '.hidden.yaml': 'not: [read',
  });
  expect([...made.catalog.current().pools.keys()]).toEqual(['one', 'two']);
  expect(made.catalog.current().reserved[4].size).toBe(2n);
  expect(made.catalog.current().problems).toEqual([]);
});

test.each([
  {
    name: 'reversed range',
    yaml: poolYaml('p', '10.0.0.9-10.0.0.1'),
    problem: /^p\.yaml:7: spec\.ips\[0\]: .*reversed/,
  },
  {
    name: 'outside the subnet',
    yaml: poolYaml('p', '10.0.1.1'),
    problem: /^p\.yaml:7: spec\.ips\[0\]: .*10\.0\.0\.0\/24/,
  },
  {
    name: 'host bits',
    yaml: poolYaml('p', '10.0.0.5').replace('10.0.0.0/24', '10.0.0.1/24'),
    problem: /^p\.yaml:6: spec\.subnet: .*10\.0\.0\.0\/24/,
  },
  {
    name: 'gateway among ips',
    yaml: poolYaml('p', '10.0.0.1-10.0.0.5', '  gateway: 10.0.0.2\n'),
    problem: /^p\.yaml:8: spec\.gateway: /,
  },
  {
    name: 'unknown field',
    yaml: poolYaml('p', '10.0.0.5', '  gatewya: 10.0.0.1\n'),
    problem: /^p\.yaml:8: spec\.gatewya: unknown field.*gateway/,
  },
  {
    name: 'unknown kind',
    yaml: poolYaml('p', '10.0.0.5').replace('SpiderIPPool', 'SpiderPool'),
    problem: /^p\.yaml:2: kind: "SpiderPool" is not known/,
  },
  { name: 'broken YAML', yaml: 'apiVersion: [x\n  y: z\n', problem: /^p\.yaml:\d+: / },
])('a bad file is reported by name and line: $name', async ({ yaml, problem }) => {
  await using made = await openDirectory({ 'p.yaml': yaml, 'ok.yaml': poolYaml('ok', '10.0.0.200') });
  expect(made.catalog.current().problems).toEqual([expect.stringMatching(problem)]);
  expect([...made.catalog.current().pools.keys()]).toEqual(['ok']);
});

test('of two overlapping pools the first is used and the second is reported', async () => {
  await using made = await openDirectory({
    'a.yaml': poolYaml('a', '10.0.0.10-10.0.0.20'),
    'b.yaml': poolYaml('b', '10.0.0.20'),
  });
  expect([...made.catalog.current().pools.keys()]).toEqual(['a']);
  expect(made.catalog.current().problems).toEqual([expect.stringMatching(/^b\.yaml:1: .*\bb\b.*\ba\b.*10\.0\.0\.20/)]);
});

test('a new overlapping pool does not replace the one in use, even if its file sorts first', async () => {
  await using made = await openDirectory({ 'm.yaml': poolYaml('used', '10.0.0.10') });
  await made.write('a.yaml', poolYaml('newcomer', '10.0.0.10-10.0.0.11'));
  await made.catalog.reload();
  expect([...made.catalog.current().pools.keys()]).toEqual(['used']);
});

test('a change on disk is noticed without a call, and listeners are called', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10') });
  const told = Promise.withResolvers<void>();
  made.catalog.onChange(told.resolve);
  await made.write('p.yaml', poolYaml('p', '10.0.0.10-10.0.0.12'));
  await told.promise;
  expect(made.rangesOf('p')).toEqual(['10.0.0.10-10.0.0.12']);
});

test('a file that becomes invalid keeps its last valid state until it is fixed or removed', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10') });
  await made.write('p.yaml', poolYaml('p', '10.0.0.9-10.0.0.1'));
  await made.catalog.reload();
  expect(made.rangesOf('p')).toEqual(['10.0.0.10']);
  expect(made.catalog.current().problems).toHaveLength(1);
  await made.write('p.yaml', poolYaml('p', '10.0.0.1-10.0.0.9'));
  await made.catalog.reload();
  expect(made.rangesOf('p')).toEqual(['10.0.0.1-10.0.0.9']);
  expect(made.catalog.current().problems).toEqual([]);
  await made.remove('p.yaml');
  await made.catalog.reload();
  expect(made.rangesOf('p')).toBeUndefined();
});

const inDomain = (domain: string) =>
  poolYaml('p', '10.0.0.10').replace('name: p', `name: p\n  annotations: {ipledger.io/domain: ${domain}}`);

test('the domain of a pool cannot change while it is in force: the earlier version stays, also after other changes', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10') });
  await made.write('p.yaml', inDomain('blue'));
  await made.catalog.reload();
  await made.write('other.yaml', poolYaml('other', '10.0.0.200'));
  await made.catalog.reload();
  const { pools, problems } = made.catalog.current();
  expect(problems).toEqual([expect.stringContaining('domain of pool p is default and cannot become blue')]);
  expect([pools.get('p')?.domain, pools.has('other')]).toEqual(['default', true]);
});

test('the domain of a pool cannot change by a restart while addresses of it are held', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10') });
  await made.write('p.yaml', inDomain('blue'));
  using restarted = await made.open({ p: 'default' });
  expect([...restarted.current().pools.keys()]).toEqual([]);
  expect(restarted.current().problems).toEqual([expect.stringContaining('cannot become blue')]);
  using unused = await made.open();
  expect(unused.current().pools.get('p')?.domain).toBe('blue');
});

test('a pool that grows into another one keeps its earlier size, and the other stays', async () => {
  await using made = await openDirectory({
    'a.yaml': poolYaml('a', '10.0.0.10'),
    'b.yaml': poolYaml('b', '10.0.0.20'),
  });
  await made.write('a.yaml', poolYaml('a', '10.0.0.10-10.0.0.30'));
  await made.catalog.reload();
  expect([made.rangesOf('a'), made.rangesOf('b')]).toEqual([['10.0.0.10'], ['10.0.0.20']]);
  expect(made.catalog.current().problems).toEqual([expect.stringMatching(/^a\.yaml:1: /)]);
});

test('a new file does not take the name of a pool in force', async () => {
  await using made = await openDirectory({ 'm.yaml': poolYaml('lab', '10.0.0.10') });
  await made.write('0-copy.yaml', poolYaml('lab', '10.0.0.99'));
  await made.catalog.reload();
  expect(made.rangesOf('lab')).toEqual(['10.0.0.10']);
});

test('a file that is invalid at a restart keeps its last valid state, so a typo does not end a reservation', async () => {
  const reserved = (ips: string) =>
    `apiVersion: spiderpool.spidernet.io/v2beta1\nkind: SpiderReservedIP\nmetadata: {name: printers}\nspec: {ips: [${ips}]}\n`;
  await using made = await openDirectory({ 'printers.yaml': reserved('10.0.0.10') });
  await made.write('printers.yaml', reserved('10.0.0.10, 10.0.0.300'));
  using restarted = await made.open();
  expect(restarted.current().reserved[4].size).toBe(1n);
  expect(restarted.current().problems).toEqual([expect.stringContaining('10.0.0.300')]);
});

test('an entry that is not a plain file is reported and does not block the load', async () => {
  await using made = await openDirectory({ 'ok.yaml': poolYaml('ok', '10.0.0.10') });
  await mustRun('mkfifo', join(made.path, 'pipe.yaml'));
  await symlink('/dev/zero', join(made.path, 'zero.yaml'));
  await mkdir(join(made.path, 'directory.yaml'));
  await made.catalog.reload();
  expect(made.catalog.current().problems.toSorted()).toEqual([
    'directory.yaml: it is not a plain file',
    'pipe.yaml: it is not a plain file',
    'zero.yaml: it is not a plain file',
  ]);
  expect([...made.catalog.current().pools.keys()]).toEqual(['ok']);
});

test('a duplicate key is reported with its line', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10', '  ips: [10.0.0.11]\n') });
  expect(made.catalog.current().problems).toEqual(['p.yaml:8: the key ips is there twice']);
});

test('listeners are not called when nothing changed', async () => {
  await using made = await openDirectory({ 'p.yaml': poolYaml('p', '10.0.0.10') });
  const listener = vi.fn<() => void>();
  made.catalog.onChange(listener);
  const before = made.catalog.current();
  await made.catalog.reload();
  expect(listener).not.toHaveBeenCalled();
  expect(made.catalog.current()).toBe(before);
});

test('a missing directory is an error at start', async () => {
  await expect(
    PoolDirectory.open('/nowhere/at/all', {
      lastGood: new LastGoodFiles('/nowhere'),
      domainsInUse: () => new Map(),
      log: silent,
    }),
  ).rejects.toMatchObject({
    reason: 'bad-config',
    message: expect.stringContaining('/nowhere/at/all') as string,
  });
});
