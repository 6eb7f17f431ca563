import { expect, test } from 'vitest';
import { WEB } from '#test/support/build-auto-pool.ts';
import { readApplication } from './asking-application.ts';

const RULES = { enableIPv4: true, enableIPv6: true, clusterSubnetAutoPoolDefaultRedundantIPNumber: 1 };
const NUMBER = 'ipam.spidernet.io/ippool-ip-number';
const BOTH = { 'ipam.spidernet.io/subnet': '{"ipv4":["a"],"ipv6":["b"]}' };
const read = (annotations: Record<string, string>, replicas: number | null = 3, rules = RULES) =>
  readApplication(WEB, { annotations, replicas }, rules);

test('each interface and family has a pool of its own', () => {
  const text = '[{"interface":"eth0","ipv4":["a"],"ipv6":["b"]},{"interface":"net1","ipv4":["c"]}]';
  const { wanted, subnets, fault } = read({ 'ipam.spidernet.io/subnets': text, [NUMBER]: '5' });
  expect(wanted.map(({ key, count }) => [key.interface, key.family, key.subnet, count])).toEqual([
    ['eth0', 4, 'a', 5],
    ['eth0', 6, 'b', 5],
    ['net1', 4, 'c', 5],
  ]);
  expect([fault, ...subnets]).toEqual([null, 'a', 'b', 'c']);
});

test.each([
  { name: 'without a number the setting of the cluster', annotations: BOTH, count: 4, number: '+1' },
  { name: 'beyond replicas', annotations: { ...BOTH, [NUMBER]: '+2' }, count: 5, number: '+2' },
  { name: 'fixed', annotations: { ...BOTH, [NUMBER]: '2' }, count: 2, number: '2' },
])('how many: $name', ({ annotations, count }) => {
  expect(read(annotations).wanted.map((it) => it.count)).toEqual([count, count]);
});

test('a family that is off is not asked for', () => {
  const { wanted } = read(BOTH, 1, { ...RULES, enableIPv6: false });
  expect(wanted.map(({ key }) => key.family)).toEqual([4]);
});

test.each([
  {
    name: 'a bad number',
    annotations: { ...BOTH, [NUMBER]: 'x' },
    fault: `annotation ${NUMBER}: "x"`,
    subnets: ['a', 'b'],
  },
  {
    name: 'a bad subnet',
    annotations: { 'ipam.spidernet.io/subnet': '{' },
    fault: 'annotation ipam.spidernet.io/subnet: bad JSON',
    subnets: [],
  },
])('a fault is said, and nothing is wanted: $name', ({ annotations, fault, subnets }) => {
  const asking = read(annotations);
  expect(asking).toMatchObject({ wanted: [], fault: expect.stringContaining(fault) });
  expect([...asking.subnets]).toEqual(subnets);
});

test('where nobody says how many pods there will be, a fixed number is asked for', () => {
  expect(read(BOTH, null).fault).toContain(`write the annotation ${NUMBER} with a fixed number`);
  expect(read({ ...BOTH, [NUMBER]: '2' }, null)).toMatchObject({ fault: null, wanted: [{ count: 2 }, { count: 2 }] });
});
