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
