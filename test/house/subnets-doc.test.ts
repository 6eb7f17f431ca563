import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readApplication } from '#controller/subnets/asking-application.ts';
import { readAskingObject } from '#controller/subnets/built-in-kinds.ts';
import { autoPoolNames } from '#pkg/autopool/pool-name.ts';
import { decodeSubnetLimits } from '#pkg/autopool/subnet-limits.ts';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { DEPLOYMENTS } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { readRootFile, readSourceFiles } from './source-files.ts';
import { countTests, type Held } from './test-names.ts';

const page = readRootFile('docs/subnets.md');
const [SIMPLEST = '', MORE = '', SUBNET = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? '');
const RULES = { enableIPv4: true, enableIPv6: true, clusterSubnetAutoPoolDefaultRedundantIPNumber: 0 };
const deployment = parse(SIMPLEST) as KubeObject;
const more = parse(MORE) as Labels;

/** What the Deployment of the page asks for, with other annotations of its template. */
function ask(changed: Labels = {}) {
  const { metadata, spec } = deployment as KubeObject & { spec: { template: { metadata: object } } };
  const { annotations } = spec.template.metadata as { annotations: Labels };
  const template = { ...spec.template, metadata: { annotations: { ...annotations, ...changed } } };
  const object = { metadata: { ...metadata, uid: 'uid-1', resourceVersion: '1' }, spec: { ...spec, template } };
  const asking = readAskingObject(DEPLOYMENTS, object);
  if (asking === null) throw new Error('the Deployment asks for no subnet');
  const { wanted, fault } = readApplication(asking.itself, asking, RULES);
  if (fault !== null) throw new Error(fault);
  return wanted;
}

const shown = (changed?: Labels) =>
  ask(changed).map(({ key, count, reclaim }) => `${key.interface} ${key.family} ${key.subnet} ${count} ${reclaim}`);
const only = (key: string): Labels => ({ [key]: more[key] ?? '' });

test('the simplest case has a pool of three addresses with the name that the page says', () => {
  expect(shown()).toEqual(['eth0 4 office 3 true']);
  const [wanted] = ask();
  const [, start = 'no name'] = /The pool `(.+?)…`/.exec(page) ?? [];
  expect(wanted && autoPoolNames(wanted.key)[0]).toMatch(new RegExp(`^${start}`));
});

test.each([
  ['ipam.spidernet.io/ippool-ip-number', ['eth0 4 office 5 true']],
  ['ipam.spidernet.io/subnet', ['eth0 4 office 3 true', 'eth0 6 office-6 3 true']],
  ['ipam.spidernet.io/subnets', ['eth0 4 office 3 true', 'net1 4 storage 3 true']],
  ['ipam.spidernet.io/ippool-reclaim', ['eth0 4 office 3 false']],
])('the setting %s does what its comment says', (key, expected) => {
  expect(shown(only(key))).toEqual(expected);
});

test('the page shows every annotation of a template', () => {
  expect(Object.keys(more)).toHaveLength(4);
});

test('the subnet of an administrator has the limits that its comments say', () => {
  const object = parse(SUBNET) as { readonly metadata: { readonly annotations: Labels } };
  expect(decodeSpiderSubnet(object)).toMatchObject({ name: 'office', family: 4 });
  expect(decodeSubnetLimits(object.metadata.annotations)).toEqual({
    allowedNamespaces: ['prod', 'team-*'],
    mostPerNamespace: 100,
  });
});

test('the page has every Event that an application may get', () => {
  const sources = readSourceFiles().filter(({ path }) => /^controller\/subnets\/.*(?<!\.test)\.ts$/.test(path));
  const reasons = sources.flatMap(({ text }) => [...text.matchAll(/reason: '(\w+)'/g)].map(([, reason]) => reason));
  expect(new Set(reasons).size).toBeGreaterThan(3);
  for (const reason of reasons) expect(page).toContain(`\`${reason}\``);
});

const at = (name: string) => `test/integration/${name}.test.ts`;
const PLAN = 'controller/allot/plan-auto-pools.test.ts';

/** The table of what differs from Spiderpool, row by row: the start of the first cell, and a test of the second one. */
const DIFFERENCES: readonly Held[] = [
  [
    'the status of the subnet decides',
    at('project-subnets'),
    'the status of a subnet follows its pools, and is repaired',
  ],
  ['two writes for a pool', 'controller/subnets/carry-out.test.ts', 'a pool that grows is one write'],
  ['a pool gets the lowest free addresses', PLAN, '$name', 'the smallest interval that fits'],
  ['shrinking drops the lowest unused', PLAN, '$name', 'shrinking as far as nothing in use is lost'],
  [
    'an address that a pool lost',
    PLAN,
    '$name',
    'what another pool dropped a moment ago waits, what the pool itself dropped does not',
  ],
  [
    'with too few addresses',
    at('auto-pools-faults'),
    'a subnet that is too small changes nothing, says required and left, and is tried again when something is freed',
  ],
  [
    'a faulty annotation',
    at('auto-pools-input'),
    'a subnet that %s: an Event on the application, no pool, and nobody else waits',
    'comes with a word',
  ],
  [
    'an application that names another subnet',
    at('auto-pools-lives'),
    'an application that names another subnet moves: a new pool there, the old one goes with its last address',
  ],
  ['a deleted auto pool', at('auto-pools'), 'a deleted auto pool of a living application is made again'],
  [
    'a removed annotation',
    at('auto-pools-unwatched'),
    'a pool whose application named its subnet, then none that can be read, goes when %s',
    'the annotation is removed',
  ],
  [
    'a deleted subnet',
    at('auto-pools-shrunk'),
    'a subnet that is being deleted under its pools keeps them, gives nothing more, and goes with the last',
  ],
  [
    'a pool that is to stay',
    at('auto-pools-input'),
    'applications that want no address and a pool that stays leave no pool behind, the others do',
  ],
  [
    'the chart writes the default',
    'pkg/config/decode-cluster-config.test.ts',
    "the chart's spelling of the redundant number is read, and must agree with the other one",
  ],
  ['text before the `+`', 'pkg/pool/subnet-wish.test.ts', 'ip-number $text is refused', '3+1'],
  [
    'agents sleep for 2 s',
    at('agent-auto-pools'),
    'waits for the pool of its Deployment, and gets an address the moment it is there',
  ],
  ['an agent compares the size', at('agent-auto-pools'), 'waits while its pool is full, until the pool grows'],
  [
    'agents make the pools of third-party kinds',
    at('auto-pools-owners'),
    'an application of another kind is scaled to zero and up again, also while no controller runs: its pool follows',
  ],
  [
    'a ReplicaSet that was left behind',
    'controller/subnets/who-asks.test.ts',
    'a ReplicaSet that its Deployment left behind gets no pool of its own, and is told why',
  ],
  [
    'of two applications whose pools',
    PLAN,
    'two applications whose names are cut to the same one get two pools at once',
  ],
  [
    'names that are too long',
    'pkg/autopool/identity.test.ts',
    'every label is a legal one, however long or strange the names are',
  ],
  [
    'each change of a pool',
    'controller/subnets/pool-object.test.ts',
    'a change leaves what others wrote, notes what was dropped, and carries the version that was seen',
  ],
  [
    'IPv6 addresses are counted',
    at('auto-pools-kinds'),
    'several interfaces and both families: a pool for each, and one that cannot grow holds up no other',
  ],
  [
    'no limits',
    at('auto-pools-kinds'),
    'a subnet says which namespaces may ask and how much they may have; kept pools count, and what it allows later is given',
  ],
];

test.for(DIFFERENCES)('differs from Spiderpool: %s', ([, file, name, row]) => {
  expect(countTests(file, name, row)).toBe(1);
});

test('the page tells of these differences in this order, each with a reason', () => {
  const [, section = ''] = page.split('## What differs from Spiderpool');
  const [, ...rows] = section.matchAll(/^\| (.+?) \| (.+?) \| (.+?) \|$/gm);
  expect(rows).toHaveLength(DIFFERENCES.length);
  for (const [index, [start]] of DIFFERENCES.entries()) expect(rows[index]?.[1]?.slice(0, start.length)).toBe(start);
});
