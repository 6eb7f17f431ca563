import { expect, test } from 'vitest';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { affinityApplication, applicationAffinity } from '#pkg/pool/auto-pool.ts';
import { autoKey, buildAutoPool, WEB } from '#test/support/build-auto-pool.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { autoPoolAnnotations, autoPoolLabels, relationTo } from './identity.ts';

const LONG = 'a'.repeat(253);

test('the labels of a pool are those that Spiderpool writes', () => {
  expect(autoPoolLabels(autoKey(), { reclaim: true, cidr: parseCidr('10.0.0.0/24') })).toEqual({
    'ipam.spidernet.io/owner-spider-subnet': 'office',
    'ipam.spidernet.io/owner-application-gv': 'apps_v1',
    'ipam.spidernet.io/owner-application-kind': 'Deployment',
    'ipam.spidernet.io/owner-application-namespace': 'prod',
    'ipam.spidernet.io/owner-application-name': 'web',
    'ipam.spidernet.io/owner-application-uid': WEB.uid,
    'ipam.spidernet.io/interface': 'eth0',
    'ipam.spidernet.io/ip-version': 'IPv4',
    'ipam.spidernet.io/ippool-reclaim': 'true',
    'ipam.spidernet.io/ippool-cidr': '10-0-0-0-24',
  });
  expect(autoPoolAnnotations({ kind: 'beyond-replicas', count: 2 })).toEqual({
    'ipam.spidernet.io/ippool-ip-number': '+2',
  });
});

test('every label is a legal one, however long or strange the names are', () => {
  const key = autoKey({
    subnet: LONG,
    interface: 'eth:0',
    application: { ...WEB, apiVersion: `${'g'.repeat(100)}.io/v1`, name: LONG },
  });
  for (const value of Object.values(autoPoolLabels(key, { reclaim: false, cidr: parseCidr('10.0.0.0/24') })))
    expect(value).toMatch(/^[a-z0-9]([-_.a-z0-9]{0,61}[a-z0-9])?$/i);
});

test.each([
  { name: 'the pool of this very key', pool: autoKey(), of: autoKey(), expected: 'own' },
  {
    name: 'the application was deleted and made again',
    pool: autoKey(),
    of: autoKey({ application: { ...WEB, uid: 'new' } }),
    expected: 'earlier',
  },
  { name: 'another subnet', pool: autoKey(), of: autoKey({ subnet: 'lab' }), expected: 'other' },
  { name: 'another interface', pool: autoKey(), of: autoKey({ interface: 'net1' }), expected: 'other' },
  { name: 'the other family', pool: autoKey(), of: autoKey({ family: 6 }), expected: 'other' },
  { name: 'another kind', pool: autoKey(), of: autoKey({ application: { ...WEB, kind: 'X' } }), expected: 'other' },
  {
    name: 'the same kind of another group',
    pool: autoKey(),
    of: autoKey({ application: { ...WEB, apiVersion: 'apps.kruise.io/v1' } }),
    expected: 'other',
  },
  {
    name: 'the same uid in another namespace',
    pool: autoKey(),
    of: autoKey({ application: { ...WEB, namespace: 'test' } }),
    expected: 'other',
  },
  {
    name: 'a name that no label can hold',
    pool: autoKey({ subnet: LONG, application: { ...WEB, name: LONG } }),
    of: autoKey({ subnet: LONG, application: { ...WEB, name: LONG } }),
    expected: 'own',
  },
  {
    name: 'a name that differs in its last character',
    pool: autoKey({ application: { ...WEB, name: LONG } }),
    of: autoKey({ application: { ...WEB, name: `${LONG.slice(1)}b` } }),
    expected: 'other',
  },
])('$name: $expected', ({ pool, of, expected }) => {
  expect(relationTo(buildAutoPool(pool), of)).toBe(expected);
});

test('a pool that somebody made is the pool of no application', () => {
  expect(relationTo(buildPool(), autoKey())).toBe('other');
});

test.each([WEB, { ...WEB, apiVersion: 'v1', kind: 'ReplicationController' }])(
  'the application is read back from the affinity: $apiVersion',
  ({ uid: _, ...application }) => {
    expect(affinityApplication(applicationAffinity(application))).toEqual(application);
  },
);

test('an affinity without one of its keys names no application', () => {
  const { 'ipam.spidernet.io/app-kind': _, ...rest } = applicationAffinity(WEB);
  expect(affinityApplication(rest)).toBeNull();
});
