import { expect, test } from 'vitest';
import { formatIpNumber, parseIpNumber, parseSubnetWish } from './subnet-wish.ts';

const SUBNET = 'ipam.spidernet.io/subnet';
const NUMBER = 'ipam.spidernet.io/ippool-ip-number';
const RECLAIM = 'ipam.spidernet.io/ippool-reclaim';
const eth0 = { interface: 'eth0', v4: 'a', v6: null };

test.each([
  { name: 'nothing is asked for', annotations: { [NUMBER]: '5' }, expected: undefined },
  {
    name: 'one subnet for eth0',
    annotations: { [SUBNET]: '{"ipv4":["a"]}' },
    expected: { nics: [eth0], number: null, reclaim: true },
  },
  {
    name: 'subnets wins over subnet',
    annotations: { [SUBNET]: '{"ipv4":["b"]}', 'ipam.spidernet.io/subnets': '[{"interface":"eth0","ipv4":["a"]}]' },
    expected: { nics: [eth0], number: null, reclaim: true },
  },
  {
    name: 'a fixed number, and the pool stays',
    annotations: { [SUBNET]: '{"ipv4":["a"]}', [NUMBER]: '5', [RECLAIM]: 'false' },
    expected: { nics: [eth0], number: { kind: 'fixed', count: 5 }, reclaim: false },
  },
  {
    name: 'more than replicas',
    annotations: { [SUBNET]: '{"ipv4":["a"]}', [NUMBER]: '+2', [RECLAIM]: 'T' },
    expected: { nics: [eth0], number: { kind: 'beyond-replicas', count: 2 }, reclaim: true },
  },
])('$name', ({ annotations, expected }) => {
  expect(parseSubnetWish(annotations)?.value).toEqual(expected);
});

test.each([
  { text: '', fault: '"" is no number of addresses' },
  { text: '-1', fault: '"-1" is no number of addresses' },
  { text: '++1', fault: '"++1" is no number of addresses' },
  { text: '3+1', fault: '"3+1" is no number of addresses' },
  { text: '1.5', fault: '"1.5" is no number of addresses' },
  { text: ' 5', fault: '" 5" is no number of addresses' },
  { text: '20001', fault: '20001 addresses are too many, one pool has at most 20000' },
  { text: `1${'0'.repeat(400)}`, fault: 'is no number of addresses' },
])('ip-number $text is refused', ({ text, fault }) => {
  const error = { reason: 'bad-annotation', message: expect.stringContaining(`annotation ${NUMBER}: `) };
  expect(() => parseIpNumber(text)).toThrow(expect.objectContaining(error));
  expect(() => parseIpNumber(text)).toThrow(fault);
});

test('a reclaim that is no truth value is refused', () => {
  const annotations = { [SUBNET]: '{"ipv4":["a"]}', [RECLAIM]: 'yes' };
  expect(() => parseSubnetWish(annotations)).toThrow(`annotation ${RECLAIM}: "yes" must be "true" or "false"`);
});

test.each(['5', '+2', '0', '+0'])('%s is written as it was read', (text) => {
  expect(formatIpNumber(parseIpNumber(text))).toBe(text);
});
