import { describe, expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { mutatePool, mutateReservedIp, mutateSubnet } from './mutate.ts';

const pool = (spec: object, metadata: object = {}) => ({ metadata: { name: 'p', ...metadata }, spec });
const kept = {
  finalizers: ['spiderpool.spidernet.io'],
  labels: { 'ipam.spidernet.io/ippool-cidr': '10-6-0-0-16' },
};
const add = (path: string, value: unknown) => ({ op: 'add', path, value });

test('all of it is added to a bare pool', () => {
  const spec = { subnet: '10.6.0.0/16', ips: ['10.6.0.2', '10.6.0.1'] };
  expect(mutatePool(pool(spec), null)).toEqual([
    add('/metadata/finalizers', kept.finalizers),
    add('/metadata/labels', kept.labels),
    add('/spec/ips', ['10.6.0.1-10.6.0.2']),
    add('/spec/ipVersion', 4),
  ]);
});

test('nothing to a pool that has it all, nor to one that is being deleted', () => {
  expect(mutatePool(pool({ subnet: '10.6.0.0/16', ipVersion: 4, ips: ['10.6.0.1'] }, kept), null)).toEqual([]);
  expect(mutatePool(pool({ subnet: '10.6.0.0/16' }, { deletionTimestamp: 'now' }), null)).toEqual([]);
});

test('labels and finalizers of others stay', () => {
  const metadata = { finalizers: ['other.io/x'], labels: { app: 'x' } };
  expect(mutateSubnet(pool({ subnet: '10.6.0.0/16', ipVersion: 4 }, metadata))).toEqual([
    add('/metadata/finalizers', ['other.io/x', 'spiderpool.spidernet.io']),
    add('/metadata/labels', { app: 'x', 'ipam.spidernet.io/subnet-cidr': '10-6-0-0-16' }),
  ]);
});

describe('what cannot be read is left for validation to tell', () => {
  const finalizer = [add('/metadata/finalizers', kept.finalizers)];

  test.each<{ name: string; object: Readonly<Record<string, unknown>>; patch: unknown }>([
    { name: 'no spec', object: { metadata: {} }, patch: finalizer },
    { name: 'a spec that is a list', object: { metadata: {}, spec: [] }, patch: finalizer },
    { name: 'a subnet that is none', object: pool({ subnet: 7, ips: 'all' }), patch: finalizer },
    { name: 'a finalizer list that is none', object: pool({}, { finalizers: 'x' }), patch: finalizer },
    {
      name: 'ranges that cannot be merged',
      object: pool({ subnet: '10.6.0.0/16', ipVersion: 4, ips: ['10.6.0.9-10.6.0.1', 'x'] }, kept),
      patch: [],
    },
    {
      name: 'a range inside a list',
      object: pool({ subnet: '10.6.0.0/16', ipVersion: 4, ips: [['10.6.0.1'], '10.6.0.2'] }, kept),
      patch: [],
    },
    {
      name: 'ranges of both families',
      object: pool({ subnet: '10.6.0.0/16', ipVersion: 4, ips: ['10.6.0.1', 'fd00::1'] }, kept),
      patch: [],
    },
    {
      name: 'more ranges than a pool can have',
      object: pool({ subnet: '10.6.0.0/16', ipVersion: 4, ips: Array(2_000).fill('10.6.0.1') }, kept),
      patch: [],
    },
  ])('$name', ({ object, patch }) => expect(mutatePool(object, [])).toEqual(patch));
});

test.each([
  { ips: ['fd00::2', 'fd00::1'], patch: [add('/spec/ips', ['fd00::1-fd00::2']), add('/spec/ipVersion', 6)] },
  { ips: ['10.0.0.1'], patch: [add('/spec/ipVersion', 4)] },
  { ips: ['rubbish'], patch: [] },
  { ips: [], patch: [] },
])('a reserved IP of $ips', ({ ips, patch }) => {
  const steps = mutateReservedIp(pool({ ips }));
  expect(steps.toSorted((a, b) => (a.path > b.path ? -1 : 1))).toEqual(
    patch.toSorted((a, b) => (a.path > b.path ? -1 : 1)),
  );
});

describe('a subnet of the same network', () => {
  const object = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name: 's', uid: 'su', resourceVersion: '1' },
    spec: { subnet: '10.6.0.0/16', ips: ['10.6.0.1-10.6.0.9'], gateway: '10.6.255.254' },
  } satisfies KubeObject;
  const subnets = [{ ...decodeSpiderSubnet(object), object }];
  const paths = (it: Readonly<Record<string, unknown>>) => mutatePool(it, subnets).map(({ path }) => path);

  test('becomes the owner and lends its gateway', () => {
    const steps = mutatePool(pool({ subnet: '10.6.0.0/16', ipVersion: 4 }, kept), subnets);
    expect(steps.map(({ path }) => path)).toEqual(['/metadata/labels', '/metadata/ownerReferences', '/spec/gateway']);
    expect(steps[1]?.value).toMatchObject([{ kind: 'SpiderSubnet', name: 's', uid: 'su', controller: true }]);
  });

  test.each([
    {
      name: 'that has a controller',
      it: pool(
        { subnet: '10.6.0.0/16', ipVersion: 4 },
        { ...kept, ownerReferences: [{ controller: true, kind: 'Foreign' }] },
      ),
    },
    {
      name: 'of another domain',
      it: pool({ subnet: '10.6.0.0/16', ipVersion: 4 }, { ...kept, annotations: { 'ipledger.io/domain': 'blue' } }),
    },
  ])('leaves a pool alone $name', ({ it }) => expect(paths(it)).toEqual([]));
});
